/** Optional parts in a bundle of their own. A daemon loads this bundle only if its config or command uses one of them. */
/* oxlint-disable typescript/no-require-imports */

export const agent = () =>
  require('./features/agent/running-agent.js') as typeof import('./features/agent/running-agent.js');

export const registries = () =>
  require('./features/agent/registry-options.js') as typeof import('./features/agent/registry-options.js');

export const csiProxy = () =>
  require('./features/csi-proxy/start-csi-proxy.js') as typeof import('./features/csi-proxy/start-csi-proxy.js');

export const metrics = () =>
  require('./features/metrics/start-metrics.js') as typeof import('./features/metrics/start-metrics.js');

export const network = () =>
  require('./features/network/start-network.js') as typeof import('./features/network/start-network.js');

export const nodeAccess = () =>
  require('./features/network/node-access.js') as typeof import('./features/network/node-access.js');

export const publishedPorts = () =>
  require('./features/ports/published-ports.js') as typeof import('./features/ports/published-ports.js');

export const packing = () =>
  require('./support/pack-members.js') as typeof import('./support/pack-members.js');

export const tracing = () =>
  require('./features/tracing/start-tracing.js') as typeof import('./features/tracing/start-tracing.js');
