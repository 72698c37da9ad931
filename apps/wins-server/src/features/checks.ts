import type { FeatureChecks } from '../kernel/feature.js';
import { agentChecks } from './agent/checks.js';
import { configChecks } from './config/checks.js';
import { csiProxyChecks } from './csi-proxy/checks.js';
import { detachedChecks } from './detached/checks.js';
import { networkChecks } from './network/checks.js';
import { runChecks } from './runs/checks.js';
import { tunnelChecks } from './tunnel/checks.js';
import { upgradeChecks } from './upgrade/checks.js';

/** Checks of all features that have any, in the order of `FEATURES`. */
export const CHECKS: readonly FeatureChecks[] = [
  runChecks,
  detachedChecks,
  tunnelChecks,
  configChecks,
  upgradeChecks,
  agentChecks,
  csiProxyChecks,
  networkChecks,
];
