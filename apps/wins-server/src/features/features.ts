import type { Feature } from '../kernel/feature.js';
import { agent } from './agent/feature.js';
import { config } from './config/feature.js';
import { csiProxy } from './csi-proxy/feature.js';
import { diagnostics } from './diagnostics/feature.js';
import { events } from './events/feature.js';
import { host } from './host/feature.js';
import { lasting } from './lasting/feature.js';
import { network } from './network/feature.js';
import { metrics } from './metrics/feature.js';
import { ports } from './ports/feature.js';
import { reflection } from './reflection/feature.js';
import { routes } from './routes/feature.js';
import { runs } from './runs/feature.js';
import { tracing } from './tracing/feature.js';
import { tunnel } from './tunnel/feature.js';
import { upgrade } from './upgrade/feature.js';

/** In the start order of their stages. `config` is the last of `serves`, because changes may arrive once that feature has started. */
export const FEATURES: readonly Feature[] = [
  ...[metrics, tracing, events],
  ...[runs, lasting, tunnel, host, routes, reflection, diagnostics, config],
  ...[upgrade, agent, csiProxy, network, ports],
];
