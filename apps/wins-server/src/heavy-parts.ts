/**
 * Heavy parts, which a config or a command turns on: a program beside the daemon, so that a daemon
 * without any of it holds none of it. Each part is loaded when it is asked for.
 */
/* eslint-disable @typescript-eslint/no-require-imports */

/** Follows a plan. */
export const agent = () =>
  require('./features/agent/start-agent.js') as typeof import('./features/agent/start-agent.js');

/** Asks registries as the agent does. */
export const registries = () =>
  require('./features/agent/registry-options.js') as typeof import('./features/agent/registry-options.js');

/** Keeps csi-proxy. */
export const csiProxy = () =>
  require('./features/csi-proxy/start-csi-proxy.js') as typeof import('./features/csi-proxy/start-csi-proxy.js');

/** Keeps metrics, and serves them. */
export const metrics = () =>
  require('./features/metrics/start-metrics.js') as typeof import('./features/metrics/start-metrics.js');

/** Packs a bundle for support. */
export const packing = () =>
  require('./support/pack-members.js') as typeof import('./support/pack-members.js');

/** Sends spans. */
export const tracing = () =>
  require('./features/tracing/start-tracing.js') as typeof import('./features/tracing/start-tracing.js');
