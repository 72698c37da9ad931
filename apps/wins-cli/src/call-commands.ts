/**
 * The commands that ask the daemon something with one answer.
 */
import { guard } from './guard.js';

const host = () => import('./commands/host-calls.js');

export const listProcesses = guard(
  async () => (await import('./commands/process-ls.js')).listProcesses,
);
export const showStats = guard(async () => (await import('./commands/process-stats.js')).showStats);
export const stopProcess = guard(
  async () => (await import('./commands/process-stop.js')).stopProcess,
);
export const explain = guard(async () => (await import('./commands/explain.js')).explain);
export const deliver = guard(async () => (await import('./commands/deliver.js')).deliver);
export const showVersion = guard(async () => (await host()).showVersion);
export const showAdapter = guard(async () => (await host()).showAdapter);
export const showHnsNetwork = guard(async () => (await host()).showHnsNetwork);
export const addRoutes = guard(async () => (await host()).addRoutes);
export const listRoutes = guard(async () => (await host()).listRoutes);
export const removeRoutes = guard(async () => (await host()).removeRoutes);
export { runNames } from './commands/run-names.js';
