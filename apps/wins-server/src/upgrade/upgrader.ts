/** What the program of upgrades does for a daemon. */
export interface Upgrader {
  /** Finishes or undoes an upgrade that came to no end. */
  readonly recoverUpgrade: (options: {
    readonly runningFile: string;
    readonly serving: Promise<void>;
    readonly service: string;
    readonly log: (line: string) => void;
  }) => Promise<{ readonly outcome: string; readonly reason: string; readonly restart: boolean }>;
  /** Starts a helper that upgrades to a program, unless the latest upgrade was to it and failed. */
  readonly offerUpgrade: (offer: {
    readonly program: string;
    readonly sha256: string;
    readonly service: string;
    readonly runningFile: string;
    readonly signal: AbortSignal;
  }) => Promise<OfferOutcome>;
  /** How the latest upgrade of a service ended. */
  readonly latestUpgrade: (service?: string) => Promise<LatestUpgrade | undefined>;
}

/** What came of an offer. */
export type OfferOutcome =
  | { readonly kind: 'handedOver'; readonly id: string }
  | { readonly kind: 'tried'; readonly outcome: string; readonly reason: string };

/** How an upgrade ended. */
export interface LatestUpgrade {
  readonly id: string;
  readonly outcome: 'upgraded' | 'nothing' | 'refused' | 'rolledBack' | 'failed';
  readonly reason: string;
  /** What it was to; absent when not so much was found out. */
  readonly to?: { readonly version?: string; readonly sha256: string };
}

/** Loads the program of upgrades, which few daemons ever need. */
export function loadUpgrader(): Upgrader {
  // Beside this file once everything is bundled; an import would be resolved while it is built.
  // eslint-disable-next-line @typescript-eslint/no-require-imports
  return require('./wins-upgrade.cjs') as Upgrader;
}
