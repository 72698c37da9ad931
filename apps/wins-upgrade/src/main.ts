/**
 * `wins up`: replaces the program of the daemon's service, or leaves it as it was. Beside it `wins install`, `join`, `leave`, `uninstall` and
 * `suc`: a node from nothing to joined, kept up to date, to gone.
 */
export { runInRun, runUpgrade } from './run-command.js';
export { latestUpgrade, offerUpgrade, recoverUpgrade, upgradeUnderWay } from './upgrader.js';

/** Loads the commands that install a node; the daemon and the upgrade helper do without what they are made of. */
export const nodeCommands = () => import('./install/node-commands.js');
