import { lstat, realpath } from 'node:fs/promises';
import { errnoOf } from '@wins/wins-program';
import type { UpgradeOutcome } from '../journal/upgrade-result.js';
import { findPlaces } from './find-places.js';
import { enterPrivateFolder } from '../journal/private-folder.js';
import { recoverInterrupted } from './recover-upgrade.js';
import type { UpgradeContext } from './upgrade-context.js';

/** What a daemon says of itself when it starts. */
export interface RecoverOptions {
  /** The file that this daemon runs from. */
  readonly runningFile: string;
  /** Resolves once this daemon serves; rejects when it will not. */
  readonly serving: Promise<void>;
  /** The service that it is. Default: the one that `wins up` takes. */
  readonly service?: string | undefined;
  /** How long it may take to answer, in milliseconds. Default 60,000. */
  readonly waitMs?: number | undefined;
  /** Gets what is found and done, a line of JSON each. */
  readonly log?: ((line: string) => void) | undefined;
}

/** What a daemon found and did when it started. */
export interface RecoveredUpgrade {
  /** `none`: nothing was under way. `busy`: a helper lives and does what is to be done. */
  readonly outcome: UpgradeOutcome | 'none' | 'busy';
  readonly reason: string;
  /** Whether this daemon is the wrong one: it must end, with an exit code that makes the service manager start it anew. */
  readonly restart: boolean;
}

/**
 * Finishes or undoes an upgrade that came to no end, from within the daemon of that service. Call it first of all, without
 * waiting for it: before it waits for `serving` it sees to it that the next start is that of a proven program. While a helper lives,
 * it does nothing.
 *
 * @throws UpgradeError when that could not be done; the next start, or the next `wins up`, tries again.
 */
export async function recoverAtStart(
  context: UpgradeContext,
  serving: Promise<void>,
): Promise<RecoveredUpgrade> {
  const none = { outcome: 'none', reason: 'no upgrade was under way', restart: false } as const;
  const status = await context.service.query();
  if (status === undefined) return none;
  const places = await findPlaces(context.service, status);
  if (!(await exists(places.folder))) return none;

  const lock = await context.service.lock();
  if (lock === undefined)
    return { outcome: 'busy', reason: 'an upgrade is under way', restart: false };
  try {
    await using _folder = await enterPrivateFolder(context, places);
    const runningFile = await realpath(context.ownFile).catch(() => context.ownFile);
    const recovered = await recoverInterrupted(context, places, {
      ...{ worker: 'daemon', runningFile, serving },
    });
    return recovered ?? none;
  } finally {
    await lock.close();
  }
}

async function exists(folder: string): Promise<boolean> {
  try {
    return (await lstat(folder)).isDirectory();
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return false;
    throw error;
  }
}
