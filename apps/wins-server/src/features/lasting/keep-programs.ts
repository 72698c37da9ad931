import type { Logger } from 'pino';
import { isKept, type WantedProgram } from './kept-programs.js';
import { lastEndOf, type Entry } from './kept-run.js';

export interface KeptProgramsParts {
  readonly entries: ReadonlyMap<string, Entry>;
  readonly logger: Pick<Logger, 'error'>;
  /** Prevents further starts once it is aborted. */
  readonly closing: AbortSignal;
  readonly begin: (program: WantedProgram) => void;
  readonly remove: (entry: Entry) => Promise<unknown>;
}

/** Runs exactly the config's programs, and replaces a program when its config entry has changed. */
export class KeptPrograms {
  readonly #parts: KeptProgramsParts;
  #wanted: ReadonlyMap<string, WantedProgram> = new Map();
  /** Settles after all changes so far; undefined before {@link begin}. */
  #changes: Promise<void> | undefined;

  constructor(parts: KeptProgramsParts) {
    this.#parts = parts;
  }

  /** Never rejects. */
  get settled(): Promise<void> {
    return this.#changes ?? Promise.resolve();
  }

  grantOf(label: string): WantedProgram['grantedBy'] | undefined {
    return this.#wanted.get(label)?.grantedBy;
  }

  /** Sets the desired programs. Before {@link begin}, this starts nothing. */
  want(programs: readonly WantedProgram[]): void {
    this.#wanted = new Map(programs.map((program) => [program.label, program]));
    this.#changes = this.#changes?.then(() => this.#reconcile(false));
  }

  /** Applies the desired programs, and restarts those that have ended. Call this as soon as the runs of earlier daemons are known. */
  begin(): void {
    this.#changes = this.#reconcile(true);
  }

  async #reconcile(startsEnded: boolean): Promise<void> {
    const { entries, logger, closing, begin, remove } = this.#parts;
    const labels = [...entries.keys()].filter((label) => isKept(label));
    const all = new Set([...labels, ...this.#wanted.keys()]);
    const changes = [...all].map(async (label) => {
      const wanted = this.#wanted.get(label);
      const entry = entries.get(label);
      const isSame = entry !== undefined && entry.plan?.kept === wanted?.plan.kept;
      const isOver = entry !== undefined && lastEndOf(entry) !== undefined;
      if (isSame && !(startsEnded && isOver)) return;
      if (entry !== undefined) await remove(entry);
      // The desired program may have changed meanwhile.
      const next = this.#wanted.get(label);
      if (next !== undefined && !closing.aborted) begin(next);
    });
    for (const change of await Promise.allSettled(changes))
      if (change.status === 'rejected')
        logger.error({ err: change.reason as unknown }, 'cannot keep a program of the config');
  }
}
