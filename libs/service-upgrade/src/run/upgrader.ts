import type { UpgradeResult } from '../journal/upgrade-result.js';
import type { OfferedProgram, OfferOutcome } from './offer-upgrade.js';
import type { RecoveredUpgrade, RecoverOptions } from './recover-at-start.js';

/** What the upgrade program does for the daemon that is the service. All methods reject with UpgradeError. */
export interface Upgrader {
  /** Finishes or undoes an upgrade that was interrupted. */
  recoverUpgrade(options: RecoverOptions): Promise<RecoveredUpgrade>;
  /** Starts a helper that upgrades to a program, unless the latest upgrade was to it and failed. */
  offerUpgrade(offer: OfferedProgram): Promise<OfferOutcome>;
  /** How the latest upgrade of a service ended; undefined when there was none. */
  latestUpgrade(service?: string): Promise<UpgradeResult | undefined>;
}
