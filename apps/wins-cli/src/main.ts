/**
 * The commands of the client that ask the daemon, and run programs of the host: all of `wins cli` but `proxy`.
 */
import { showInfo as info } from './commands/app-info.js';
import { deliver as deliverFile } from './commands/deliver.js';
import { explain as explainVerdict } from './commands/explain.js';
import * as host from './commands/host-calls.js';
import { listProcesses as list } from './commands/process-ls.js';
import { runProcess as run } from './commands/process-run.js';
import * as lasting from './commands/lasting-runs.js';
import { showStats as stats } from './commands/process-stats.js';
import { stopProcess as stop } from './commands/process-stop.js';
import { upgradeDaemon as upgrade } from './commands/upgrade.js';
import { guard } from './guard.js';

export const showInfo = guard(info);
export const listProcesses = guard(list);
export const showStats = guard(stats);
export const stopProcess = guard(stop);
export const showRunLogs = guard(lasting.showRunLogs);
export const attachRun = guard(lasting.attachRun);
export const waitForRun = guard(lasting.waitForRun);
export const removeRun = guard(lasting.removeRun);
export const explain = guard(explainVerdict);
export const deliver = guard(deliverFile);
export const showVersion = guard(host.showVersion);
export const showAdapter = guard(host.showAdapter);
export const showHnsNetwork = guard(host.showHnsNetwork);
export const addRoutes = guard(host.addRoutes);
export const listRoutes = guard(host.listRoutes);
export const removeRoutes = guard(host.removeRoutes);
export const runProcess = guard(run);
export const upgradeDaemon = guard(upgrade);
export { runNames } from './commands/run-names.js';
