/**
 * `wins cli`: talks to the daemon from inside a container. Each command is a function of its options; what it needs is loaded when it runs.
 */
import { guard } from './guard.js';
import { loadRunCommands } from './load-run-commands.js';
import { loadTunnelClient } from './tunnel/load-tunnel-client.js';

const host = () => import('./commands/host-calls.js');

type RunCommands = ReturnType<typeof loadRunCommands>;

export const runProcess: RunCommands['runProcess'] = (...words) =>
  loadRunCommands().runProcess(...words);
export const upgradeDaemon: RunCommands['upgradeDaemon'] = (...words) =>
  loadRunCommands().upgradeDaemon(...words);
export const showInfo = guard(async () => (await import('./commands/app-info.js')).showInfo);
export const listProcesses = guard(
  async () => (await import('./commands/process-ls.js')).listProcesses,
);
export const showStats = guard(async () => (await import('./commands/process-stats.js')).showStats);
export const stopProcess = guard(
  async () => (await import('./commands/process-stop.js')).stopProcess,
);
export const proxyPorts = guard(() => Promise.resolve(loadTunnelClient().proxyPorts));
export const explain = guard(async () => (await import('./commands/explain.js')).explain);
export const deliver = guard(async () => (await import('./commands/deliver.js')).deliver);
export const showVersion = guard(async () => (await host()).showVersion);
export const showAdapter = guard(async () => (await host()).showAdapter);
export const showHnsNetwork = guard(async () => (await host()).showHnsNetwork);
export const addRoutes = guard(async () => (await host()).addRoutes);
export const listRoutes = guard(async () => (await host()).listRoutes);
export const removeRoutes = guard(async () => (await host()).removeRoutes);

/** The names of what the daemon runs, for a shell that completes them. */
export async function runNames(
  server: string | undefined,
  signal: AbortSignal,
): Promise<readonly string[]> {
  return (await import('./commands/run-names.js')).runNames(server, signal);
}
