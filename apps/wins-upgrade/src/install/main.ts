/**
 * `wins install`, `join`, `leave`, `uninstall` and `suc`: a node from nothing to joined, kept up to date, to gone.
 */
export { runInstall, runJoin, runLeave, runSuc, runUninstall } from './node-commands.js';
