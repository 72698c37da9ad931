/**
 * `wins up`: replaces the program of the daemon's service, or leaves it as it was.
 */
export { recoverUpgrade } from './recover-at-start.js';
export type { RecoverOptions, RecoveredUpgrade } from './recover-at-start.js';
export { run } from './run-command.js';
