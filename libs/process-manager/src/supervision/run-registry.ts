import { quoteText } from '@wins/wins-program';
import { ProcessError } from '../process-error.js';

/** What the registry needs to know of a run. */
export interface RegisteredRun {
  readonly name: string;
  readonly runId: string;
}

/** Which run is meant: the newest of a name, or exactly one. */
export interface RunName {
  readonly value: string;
  readonly runId?: string;
}

/**
 * The runs that can be found: those that live, and ended ones, for clients that still ask for them,
 * each at most `lingerMs` and no more than `maxEnded`, the longest ended going first.
 */
export class RunRegistry<Run extends RegisteredRun> {
  readonly #keyOf: (name: string) => string;
  readonly #lingerMs: number;
  readonly #maxEnded: number;
  readonly #runs = new Map<string, Run>();
  readonly #newest = new Map<string, Run>();
  readonly #lingering = new Map<Run, NodeJS.Timeout>();

  constructor(keyOf: (name: string) => string, lingerMs: number, maxEnded: number) {
    this.#keyOf = keyOf;
    this.#lingerMs = lingerMs;
    this.#maxEnded = maxEnded;
  }

  add(run: Run): void {
    this.#runs.set(run.runId, run);
    this.#newest.set(this.#keyOf(run.name), run);
  }

  /** All runs that can be found, the oldest first. */
  list(): readonly Run[] {
    return [...this.#runs.values()];
  }

  /** @throws ProcessError `notFound`. */
  find({ value, runId }: RunName): Run {
    const key = this.#keyOf(value);
    const run = runId === undefined ? this.#newest.get(key) : this.#runs.get(runId);
    if (run !== undefined && this.#keyOf(run.name) === key) return run;
    const which = runId === undefined ? '' : ' with that run id';
    const message = `cannot find ${quoteText(value)}${which}: found no run of that name, nor one that has ended recently`;
    throw new ProcessError('notFound', message);
  }

  /** The run has ended: it is forgotten after a while. */
  linger(run: Run): void {
    this.#lingering.set(run, setTimeout(() => this.forget(run), this.#lingerMs).unref());
    if (this.#lingering.size <= this.#maxEnded) return;
    const [longestEnded] = this.#lingering.keys();
    if (longestEnded !== undefined) this.forget(longestEnded);
  }

  /** Idempotent. */
  forget(run: Run): void {
    clearTimeout(this.#lingering.get(run));
    this.#lingering.delete(run);
    this.#runs.delete(run.runId);
    const key = this.#keyOf(run.name);
    if (this.#newest.get(key) === run) this.#newest.delete(key);
  }
}
