/**
 * `wins up`: replaces the program of the daemon's service, or leaves it as it was.
 */
export { latestUpgrade, offerUpgrade } from './offer-upgrade.js';
export type { OfferedProgram, OfferOutcome } from './offer-upgrade.js';
export { recoverUpgrade } from './recover-at-start.js';
export type { RecoverOptions, RecoveredUpgrade } from './recover-at-start.js';
export { run } from './run-command.js';
