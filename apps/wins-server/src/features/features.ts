import type { Feature } from '../kernel/feature.js';
import { agent } from './agent/feature.js';
import { config } from './config/feature.js';
import { csiProxy } from './csi-proxy/feature.js';
import { diagnostics } from './diagnostics/feature.js';
import { events } from './events/feature.js';
import { host } from './host/feature.js';
import { detached } from './detached/feature.js';
import { network } from './network/feature.js';
import { metrics } from './metrics/feature.js';
import { ports } from './ports/feature.js';
import { reflection } from './reflection/feature.js';
import { routes } from './routes/feature.js';
import { runs } from './runs/feature.js';
import { status } from './status/feature.js';
import { tunnel } from './tunnel/feature.js';
import { upgrade } from './upgrade/feature.js';

/** Sorted by stage, in start order. `config` is last in the stage `serves`, because config changes may arrive once it has started. */
export const FEATURES: readonly Feature[] = [
  metrics,
  events,
  runs,
  detached,
  tunnel,
  host,
  routes,
  reflection,
  diagnostics,
  status,
  config,
  upgrade,
  agent,
  csiProxy,
  network,
  ports,
];
