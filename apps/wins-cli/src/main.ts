/**
 * `wins cli`: talks to the daemon from inside a container. Each command is a function of its options; what it needs is loaded when it runs.
 */
import { guard } from './guard.js';
import { loadCallCommands } from './load-call-commands.js';
import { loadRunCommands } from './load-run-commands.js';
import { loadTunnelClient } from './tunnel/load-tunnel-client.js';

type CallCommands = ReturnType<typeof loadCallCommands>;
type RunCommands = ReturnType<typeof loadRunCommands>;

export const showInfo = guard(async () => (await import('./commands/app-info.js')).showInfo);
export const proxyPorts = guard(() => Promise.resolve(loadTunnelClient().proxyPorts));

export const runProcess: RunCommands['runProcess'] = (...words) =>
  loadRunCommands().runProcess(...words);
export const upgradeDaemon: RunCommands['upgradeDaemon'] = (...words) =>
  loadRunCommands().upgradeDaemon(...words);

export const listProcesses: CallCommands['listProcesses'] = (...words) =>
  loadCallCommands().listProcesses(...words);
export const showStats: CallCommands['showStats'] = (...words) =>
  loadCallCommands().showStats(...words);
export const stopProcess: CallCommands['stopProcess'] = (...words) =>
  loadCallCommands().stopProcess(...words);
export const explain: CallCommands['explain'] = (...words) => loadCallCommands().explain(...words);
export const deliver: CallCommands['deliver'] = (...words) => loadCallCommands().deliver(...words);
export const showVersion: CallCommands['showVersion'] = (...words) =>
  loadCallCommands().showVersion(...words);
export const showAdapter: CallCommands['showAdapter'] = (...words) =>
  loadCallCommands().showAdapter(...words);
export const showHnsNetwork: CallCommands['showHnsNetwork'] = (...words) =>
  loadCallCommands().showHnsNetwork(...words);
export const addRoutes: CallCommands['addRoutes'] = (...words) =>
  loadCallCommands().addRoutes(...words);
export const listRoutes: CallCommands['listRoutes'] = (...words) =>
  loadCallCommands().listRoutes(...words);
export const removeRoutes: CallCommands['removeRoutes'] = (...words) =>
  loadCallCommands().removeRoutes(...words);

/** The names of what the daemon runs, for a shell that completes them. */
export const runNames: CallCommands['runNames'] = (...words) =>
  loadCallCommands().runNames(...words);
