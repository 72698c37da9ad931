import { Serial } from '@wins/base';
import type { Note } from '../keeper/note.js';
import type { AllowedExecutable } from '../policy/executable-policy.js';
import { isKept, lastEndOf, stateOf, type KeptName } from './detached-run.js';
import type { RestartPlan } from './restart-plan.js';
import type { RunLife } from './run-life.js';

/** A program that always runs. */
export interface WantedProgram {
  readonly label: KeptName;
  readonly plan: RestartPlan;
  /** Entry that allows exactly this program. */
  readonly grantedBy: AllowedExecutable;
}

export interface KeptProgramsParts {
  /** All runs of the daemon. */
  readonly entries: () => Iterable<RunLife>;
  readonly note: Note;
  /** Prevents further starts once it is aborted. */
  readonly closing: AbortSignal;
  readonly begin: (program: WantedProgram) => void;
  readonly remove: (entry: RunLife) => Promise<unknown>;
}

/** Runs exactly the config's programs, and replaces a program when its config entry has changed. */
export class KeptPrograms {
  readonly #parts: KeptProgramsParts;
  #wanted: ReadonlyMap<string, WantedProgram> = new Map();
  readonly #changes = new Serial();
  #hasBegun = false;

  constructor(parts: KeptProgramsParts) {
    this.#parts = parts;
  }

  /** Never rejects. */
  get settled(): Promise<void> {
    return this.#changes.idle();
  }

  grantOf(label: string): WantedProgram['grantedBy'] | undefined {
    return this.#wanted.get(label)?.grantedBy;
  }

  /** Sets the desired programs. Before {@link begin}, this starts nothing. */
  want(programs: readonly WantedProgram[]): void {
    this.#wanted = new Map(programs.map((program) => [program.label, program]));
    this.apply();
  }

  /** Applies the desired programs again, because a run that could not be changed may answer now. Before {@link begin}, this does nothing. */
  apply(): void {
    if (this.#hasBegun) void this.#changes.run(() => this.#reconcile(false));
  }

  /**
   * Applies the desired programs, and starts those anew that have ended or were given up. A program that somebody stopped stays stopped. Call
   * this as soon as the runs of earlier daemons are known.
   */
  begin(): void {
    this.#hasBegun = true;
    void this.#changes.run(() => this.#reconcile(true));
  }

  async #reconcile(startsEnded: boolean): Promise<void> {
    const { entries, note, closing, begin, remove } = this.#parts;
    const kept = [...entries()].filter(({ label }) => isKept(label));
    const isWanted = (entry: RunLife): boolean => {
      if (entry.plan?.kept !== this.#wanted.get(entry.label)?.plan.kept) return false;
      const isOver = lastEndOf(entry) !== undefined && stateOf(entry) !== 'stopped';
      return !(startsEnded && isOver);
    };
    const removals = kept
      .filter((entry) => !isWanted(entry))
      .map((entry) => ({
        label: entry.label,
        path: entry.plan?.request.path,
        isRemoved: remove(entry).then(
          () => true,
          (err: unknown) => {
            note('error', 'cannot keep a program of the config', { err });
            return false;
          },
        ),
      }));
    const here = new Set(kept.filter(isWanted).map(({ label }) => label));
    const missing = [...this.#wanted.values()].filter(({ label }) => !here.has(label));
    const begun = missing.map(async ({ label, grantedBy }) => {
      // The same program under another name may need the ports or files of the one that is ending.
      for (const removal of removals)
        if (removal.path === grantedBy.path || removal.label === label) await removal.isRemoved;
      const own = removals.find((removal) => removal.label === label);
      if ((await own?.isRemoved) === false) return;
      // The desired program may have changed meanwhile.
      const next = this.#wanted.get(label);
      if (next !== undefined && !closing.aborted) begin(next);
    });
    await Promise.all([...begun, ...removals.map(({ isRemoved }) => isRemoved)]);
  }
}
