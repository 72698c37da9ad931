import { randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { findPlaces } from '../journal/upgrade-places.js';
import { latestResult, type UpgradeResult } from '../journal/upgrade-result.js';
import type { SignedProgram } from '../signature/signed-program.js';
import { UpgradeError } from '../upgrade-error.js';
import { makeHelper } from './hand-over.js';
import { enterPrivateFolder, requireTrustedFolder, withLock } from './private-folder.js';
import { recoverInterrupted, type RecoveredUpgrade } from './recover-upgrade.js';
import type { UpgradeContext } from './upgrade-context.js';

/** Prefix of the ids of upgrades that a daemon starts by itself. */
export const WATCHED_PREFIX = 'watched-';
/** How often one program is tried whose upgrade was interrupted: it may be the reason of the interruption. */
const ATTEMPTS = 3;

/** A program that a daemon found and would be replaced by. */
export interface OfferedProgram {
  /** Its absolute path. Who can write there decides what the service runs: the caller has looked. */
  readonly program: string;
  /** The digest of what was looked at; nothing else is taken. */
  readonly sha256: string;
  /** The service that the daemon is. */
  readonly service: string;
  /** The file that this daemon runs from. */
  readonly runningFile: string;
  /** Nothing is handed over any more. */
  readonly signal: AbortSignal;
  /** Gets what is found and done, a line of JSON each. */
  readonly log?: ((line: string) => void) | undefined;
}

/** Facts that a daemon gives about itself when it starts. The default service is the one that `wins up` takes. */
export interface RecoverOptions
  extends Pick<OfferedProgram, 'runningFile' | 'log'>, Partial<Pick<OfferedProgram, 'service'>> {
  /** Resolves once this daemon serves; rejects when it will not. */
  readonly serving: Promise<void>;
  /** How long it may take to answer, in milliseconds. Default 60,000. */
  readonly waitMs?: number | undefined;
}

/** Services of the upgrade program for the daemon that is the service. All methods reject with UpgradeError. */
export interface Upgrader {
  /** Finishes or undoes an upgrade that was interrupted. */
  recoverUpgrade(options: RecoverOptions): Promise<RecoveredUpgrade>;
  /** Starts a helper that upgrades to a program, unless the latest upgrade was to it and failed. */
  offerUpgrade(offer: OfferedProgram): Promise<OfferOutcome>;
  /** How the latest upgrade of a service ended; undefined when there was none. */
  latestUpgrade(service?: string): Promise<UpgradeResult | undefined>;
  /** The phase of an upgrade of a service that has no end yet, `unreadable` for a journal that is none; undefined when there is none. */
  upgradeUnderWay(service?: string): Promise<string | undefined>;
  /** Begins to read a program whose signature counts. */
  readSignature(): SignedProgram;
}

/** Outcome of an offer. */
export type OfferOutcome =
  /** A helper of its own goes on: the daemon will be stopped, or there will be a result of this id. */
  | { readonly kind: 'handedOver'; readonly id: string }
  /** The latest upgrade was to this very program, and it is not to be tried again. */
  | { readonly kind: 'tried'; readonly outcome: string; readonly reason: string };

/**
 * Begins an upgrade from within the daemon of the service. The program that the service names does the work, in a process that the
 * daemon does not end; the offered one is not run before it is judged.
 *
 * A program that was refused, rolled back or failed is not tried again as long as the result says so; one whose upgrade was
 * interrupted is, up to three times.
 *
 * @param startHelper - Runs a copy of the program of the service, which upgrades to the offered one.
 * @throws UpgradeError `busy`, and what else keeps it from being done now; nothing was touched.
 */
export async function offerUpgrade(
  context: UpgradeContext,
  offer: OfferedProgram,
  startHelper: (
    file: string,
    order: { readonly id: string; readonly attempt: number },
  ) => Promise<void>,
): Promise<OfferOutcome> {
  return withLock(context.service, async () => {
    const places = await findPlaces(context.service);
    await requireOtherFile(offer.program, places.target);
    requireTrustedFolder(context, path.dirname(places.target));
    await using _folder = await enterPrivateFolder(context, places);
    // First, because its result counts as well.
    const { runningFile } = offer;
    const daemon = { worker: 'daemon', runningFile, serving: Promise.resolve() } as const;
    const { restart, reason: undone } = await recoverInterrupted(context, places, daemon);
    if (restart)
      throw new UpgradeError('busy', `an upgrade was rolled back: ${undone}. Restart the service`);
    let attempt: number | undefined = 1;
    const latest = await latestResult(places);
    if (latest?.to?.sha256 === offer.sha256) {
      attempt = attemptAfter(latest);
      const { outcome, reason } = latest;
      if (attempt === undefined) return { kind: 'tried', outcome, reason } as const;
    }
    context.log.write('offered', { program: offer.program, sha256: offer.sha256, attempt });
    const helper = await makeHelper(context, places, places.target);
    offer.signal.throwIfAborted();
    const id = `${WATCHED_PREFIX}${attempt}-${randomUUID()}`;
    await startHelper(helper, { id, attempt });
    return { kind: 'handedOver', id };
  });
}

/** The number of the next attempt for the program of this result; undefined when there is none. */
function attemptAfter({ outcome, interrupted, attempt }: UpgradeResult): number | undefined {
  if (outcome === 'upgraded' || outcome === 'nothing') return 1;
  // A result of an older release has no number: such an upgrade counts as none.
  const last = Number.isSafeInteger(attempt) ? Number(attempt) : 0;
  return interrupted === true && last < ATTEMPTS ? last + 1 : undefined;
}

/** Refuses the file of the service itself: an upgrade that overwrote it would have nothing to roll back to. */
async function requireOtherFile(program: string, target: string): Promise<void> {
  const looks = [program, target].map((file) => stat(file, { bigint: true }));
  const [offered, installed] = await Promise.all(looks).catch(() => []);
  if (offered === undefined || offered.dev !== installed?.dev || offered.ino !== installed.ino)
    return;
  throw new UpgradeError(
    'refused',
    `cannot upgrade to ${program}: it is the program of the service itself`,
  );
}
