import type { DetachedGrant } from '../policy/executable-policy.js';
import { ProcessError } from '../process-error.js';
import { folderNameOf, type RunOwner } from '../supervision/run-record.js';
import type { RunFolders } from '../supervision/run-folders.js';
import { hasLease, isBegun, isKept, lastEndOf, type DiskClaim } from './detached-run.js';
import type { RunLife } from './run-life.js';

/** Smallest part of the disk quota that an ended run counts for, however little it wrote. */
const ENDED_BYTES = 64 * 1024;

/** Divides the disk space for output among the owners of runs. */
export interface SpoolShares {
  /** Returns undefined if the owner has no such space left. */
  take(owner: RunOwner, options: SpoolClaim): DiskClaim | undefined;
}

/** Request for disk space on behalf of one run. */
export interface SpoolClaim {
  /** In bytes. */
  readonly amount: number;
  /** False: the claim may not cost another run its place. */
  readonly displaces: boolean;
  /** True for a run that has ended, which may make room. */
  readonly isIdle: () => boolean;
  /** Called when the run must make room. */
  readonly end: () => void;
}

export interface RunPlacesParts {
  readonly entries: () => Iterable<RunLife>;
  readonly folders: Pick<RunFolders, 'sizeOf'>;
  /** Default: only the bounds of the entries count. */
  readonly spools?: SpoolShares | undefined;
  readonly forget: (entry: RunLife) => Promise<void>;
  /** Removes an ended run whose disk space another one needs. */
  readonly makesRoom: (entry: RunLife) => void;
}

/** Places of runs: how many runs of a program a client may have, and how much disk space for their output. */
export class RunPlaces {
  readonly #parts: RunPlacesParts;

  constructor(parts: RunPlacesParts) {
    this.#parts = parts;
  }

  /**
   * Reserves a place in the entry and disk space for an attempt. If necessary, removes ended runs of the same client, beginning with the one that
   * ended first.
   * A run with a lease removes only others with a lease.
   */
  async makeRoom(entry: RunLife, program: string, grant: DetachedGrant): Promise<void> {
    const isLeased = hasLease(entry);
    const { owner } = entry.facts;
    const others = (): readonly RunLife[] =>
      [...this.#parts.entries()].filter(
        ({ facts }) => facts.owner.key === owner.key && facts.owner.since === owner.since,
      );
    const ofProgram = (): readonly RunLife[] =>
      others().filter((other) => other !== entry && isOfProgram(other, program));
    const isAdded = !isBegun(entry) || entry.facts.run.path !== program;
    while (isAdded && !isKept(entry.label) && ofProgram().length >= grant.maxRuns) {
      const oldest = oldestEnded(ofProgram().filter((other) => !isLeased || hasLease(other)));
      if (oldest === undefined)
        throw isFull(
          `its entry allows each client ${grant.maxRuns} detached runs at once. Remove one`,
        );
      await this.#parts.forget(oldest);
    }
    while (!this.claim(entry, grant.spoolBytes, !isLeased)) {
      const oldest = isLeased ? oldestEnded(others().filter(hasLease)) : undefined;
      if (oldest === undefined)
        throw isFull('this client has used its share of the disk space for output. Remove a run');
      await this.#parts.forget(oldest);
    }
  }

  /** Claims disk space for the output of a run. An ended run makes room for others. @returns Whether there is enough. */
  claim(entry: RunLife, amount: number, displaces = true): boolean {
    const { spools } = this.#parts;
    if (spools === undefined) return true;
    const before = entry.claim?.held ?? 0;
    if (before >= amount) return true;
    const take = (bytes: number): DiskClaim | undefined => {
      const taken: { claim?: DiskClaim | undefined } = {};
      taken.claim = spools.take(entry.facts.owner, {
        amount: bytes,
        displaces,
        isIdle: () => lastEndOf(entry) !== undefined && !entry.isStarting,
        end: () => {
          if (taken.claim !== undefined) this.#parts.makesRoom(entry);
        },
      });
      return taken.claim;
    };
    entry.claim?.release();
    entry.claim = take(amount);
    const isTaken = entry.claim !== undefined;
    if (!isTaken && before > 0) entry.claim = take(before);
    return isTaken;
  }

  /** An ended run claims what it has on the disk. */
  fit(entry: RunLife): void {
    if (entry.process !== undefined || entry.isStarting || lastEndOf(entry) === undefined) return;
    const { claim } = entry;
    void this.#parts.folders.sizeOf(folderNameOf(entry.facts)).then((bytes) => {
      if (lastEndOf(entry) === undefined || entry.isStarting || entry.claim !== claim) return;
      claim?.set(Math.min(claim.held, Math.max(ENDED_BYTES, bytes)));
    });
  }
}

/** True if the newest attempt executes the program, or the next one will. */
function isOfProgram({ facts, plan }: RunLife, program: string): boolean {
  return plan?.request.path === program || facts.run.path === program;
}

function isFull(found: string): ProcessError {
  return new ProcessError('tooManyProcesses', `cannot start a detached run: ${found}`);
}

function oldestEnded(runs: readonly RunLife[]): RunLife | undefined {
  const ended = runs.filter((run) => lastEndOf(run) !== undefined);
  return ended.sort((a, b) => b.ageMs - a.ageMs)[0];
}
