import type { Optional } from '@wins/base';
import { randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { findPaths } from '../journal/upgrade-paths.js';
import { latestResult, type UpgradeResult } from '../journal/upgrade-result.js';
import type { SignedProgram } from '../signature/signed-program.js';
import { abortedBy, UpgradeError } from '../upgrade-error.js';
import { makeHelper } from './hand-over.js';
import { enterPrivateFolder, requireTrustedFolder, withLock } from './private-folder.js';
import { recoverInterrupted, type RecoveredUpgrade } from './recover-upgrade.js';
import type { UpgradeContext } from './upgrade-context.js';

/** Prefix of the ids of upgrades that a daemon starts for a watched file. Requested upgrades cannot have it. */
export const WATCHED_PREFIX = 'watched-';
/** Maximum number of interrupted attempts to upgrade to a program. The program may cause the interruptions. */
const ATTEMPTS = 3;

/** A program for which a daemon starts an upgrade of its own service. */
export interface OfferedProgram {
  /** Absolute path. The caller has checked who can write there, because the service will run this program. */
  readonly program: string;
  readonly sha256: string;
  readonly service: string;
  /** Program file of this daemon. */
  readonly runningFile: string;
  /** After this signal aborts, no upgrade is handed over. */
  readonly signal: AbortSignal;
  /** Receives JSON lines. */
  readonly log?: ((line: string) => void) | undefined;
}

/** The default service is that of `wins up`. */
export interface RecoverOptions
  extends Pick<OfferedProgram, 'runningFile' | 'log'>, Optional<Pick<OfferedProgram, 'service'>> {
  readonly serving: Promise<void>;
  /** Time limit in milliseconds for the daemon to answer. Absent: the limit of `wins up`. */
  readonly waitMs?: number | undefined;
}

/** All methods reject with UpgradeError. */
export interface Upgrader {
  recoverUpgrade(options: RecoverOptions): Promise<RecoveredUpgrade>;
  offerUpgrade(offer: OfferedProgram): Promise<OfferOutcome>;
  latestUpgrade(service?: string): Promise<UpgradeResult | undefined>;
  /** Returns the phase; `unreadable` for an invalid journal; undefined without an upgrade. */
  upgradeUnderWay(service?: string): Promise<string | undefined>;
  readSignature(): SignedProgram;
}

/** Result of {@link offerUpgrade}. */
export type OfferOutcome =
  /** The upgrade helper has started. It now either stops the daemon to upgrade it, or writes a result with this `id`. */
  | { readonly kind: 'handedOver'; readonly id: string }
  /** The latest upgrade was to this program, which is not tried again. */
  | { readonly kind: 'tried'; readonly outcome: string; readonly reason: string };

/**
 * Starts an upgrade from within the daemon of the service. The helper is a copy of the service's program; it outlives the
 * daemon. A program is not tried again while the result file says that the upgrade to it was refused, rolled back or
 * failed. An interrupted upgrade is tried up to three times.
 * @throws UpgradeError `busy` or another code if no upgrade can start now, `aborted`; nothing was changed.
 */
export async function offerUpgrade(
  context: UpgradeContext,
  offer: OfferedProgram,
  startHelper: (
    file: string,
    order: { readonly id: string; readonly attempt: number },
  ) => Promise<void>,
): Promise<OfferOutcome> {
  const handOver = async (): Promise<OfferOutcome> => {
    const paths = await findPaths(context.service);
    await requireOtherFile(offer.program, paths.target);
    requireTrustedFolder(context, path.dirname(paths.target));
    await using _folder = await enterPrivateFolder(context, paths);
    // First finish or undo an interrupted upgrade, so that its result becomes the latest.
    const { runningFile } = offer;
    const daemon = { worker: 'daemon', runningFile, serving: Promise.resolve() } as const;
    const { restart, reason: undone } = await recoverInterrupted(context, paths, daemon);
    if (restart)
      throw new UpgradeError('busy', `an upgrade was rolled back: ${undone}. Restart the service`);
    let attempt: number | undefined = 1;
    const latest = await latestResult(paths);
    if (latest?.to?.sha256 === offer.sha256) {
      attempt = attemptAfter(latest);
      const { outcome, reason } = latest;
      if (attempt === undefined) return { kind: 'tried', outcome, reason } as const;
    }
    context.log.write('offered', { program: offer.program, sha256: offer.sha256, attempt });
    const helper = await makeHelper(context, paths, paths.target);
    if (offer.signal.aborted) throw abortedBy(offer.signal, 'hand the upgrade over');
    const id = `${WATCHED_PREFIX}${attempt}-${randomUUID()}`;
    await startHelper(helper, { id, attempt });
    return { kind: 'handedOver', id };
  };
  return await withLock(context.service, handOver, { signal: offer.signal });
}

function attemptAfter({ outcome, interrupted, attempt }: UpgradeResult): number | undefined {
  if (outcome === 'upgraded' || outcome === 'nothing') return 1;
  // A result that an older release wrote has no attempt number. It counts as 0.
  const last = Number.isSafeInteger(attempt) ? Number(attempt) : 0;
  return interrupted === true && last < ATTEMPTS ? last + 1 : undefined;
}

/** Refuses the service's own file, because overwriting it would leave nothing to roll back to. */
async function requireOtherFile(program: string, target: string): Promise<void> {
  const looks = [program, target].map((file) => stat(file, { bigint: true }));
  const [offered, installed] = await Promise.all(looks).catch(() => []);
  if (offered === undefined || offered.dev !== installed?.dev || offered.ino !== installed.ino)
    return;
  const message = `cannot upgrade to ${program}: it is the program of the service itself`;
  throw new UpgradeError('refused', message);
}
