import type { Logger } from 'pino';
import { isKept, type WantedProgram } from './kept-programs.js';
import { lastEndOf, type Entry } from './kept-run.js';

/** Parts of {@link KeptPrograms}. */
export interface KeptProgramsParts {
  /** All runs that last, by their labels. */
  readonly entries: ReadonlyMap<string, Entry>;
  readonly logger: Pick<Logger, 'error'>;
  /** Nothing is started once it is aborted. */
  readonly closing: AbortSignal;
  readonly begin: (program: WantedProgram) => void;
  readonly remove: (entry: Entry) => Promise<unknown>;
}

/** Has the programs run that the config keeps, and no others: one that has changed is replaced. */
export class KeptPrograms {
  readonly #parts: KeptProgramsParts;
  #wanted: ReadonlyMap<string, WantedProgram> = new Map();
  /** The changes to them, one after the other; undefined before the first. */
  #changes: Promise<void> | undefined;

  constructor(parts: KeptProgramsParts) {
    this.#parts = parts;
  }

  /** Resolves when nothing is being changed. Never rejects. */
  get settled(): Promise<void> {
    return this.#changes ?? Promise.resolve();
  }

  /** The entry that lets one be started; undefined for other runs. */
  grantOf(label: string): WantedProgram['grantedBy'] | undefined {
    return this.#wanted.get(label)?.grantedBy;
  }

  /** Wants these from now on, or from {@link begin} on. */
  want(programs: readonly WantedProgram[]): void {
    this.#wanted = new Map(programs.map((program) => [program.label, program]));
    this.#changes = this.#changes?.then(() => this.#reconcile(false));
  }

  /** Begins, once what earlier daemons left is known. What ended before this one came is worth another try. */
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
      // It may be another one by now.
      const next = this.#wanted.get(label);
      if (next !== undefined && !closing.aborted) begin(next);
    });
    for (const change of await Promise.allSettled(changes))
      if (change.status === 'rejected')
        logger.error({ err: change.reason as unknown }, 'cannot keep a program of the config');
  }
}
