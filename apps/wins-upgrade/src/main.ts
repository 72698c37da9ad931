/**
 * `wins up`: replaces the program of the daemon's service, or leaves it as it was.
 */
export { runInRun, runUpgrade } from './run-command.js';
export { latestUpgrade, offerUpgrade, recoverUpgrade } from './upgrader.js';
