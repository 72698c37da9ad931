import { quoteText } from '@wins/base';
import { ProcessError } from '../process-error.js';
import type { ManagedProcess } from './managed-process.js';
import { markOf } from './run-mark.js';

/** Selects the newest run of a name, or one run by its id. */
export interface RunName {
  readonly value: string;
  /** Default: the newest run of the name. */
  readonly runId?: string | undefined;
}

/**
 * The set of runs that clients can find. Keeps at most `maxEnded` ended runs, each for at most `lingerMs`. When there
 * are too many, drops the run that ended first.
 */
export class RunRegistry<Run extends Pick<ManagedProcess, 'name' | 'mark'>> {
  readonly #keyOf: (name: string) => string;
  readonly #lingerMs: number;
  readonly #maxEnded: number;
  /** Each run under its mark. Ids cannot be the keys, because the manager does not know the ids of adopted runs. */
  readonly #runs = new Map<string, Run>();
  readonly #newest = new Map<string, Run>();
  readonly #lingering = new Map<Run, NodeJS.Timeout>();

  constructor(keyOf: (name: string) => string, lingerMs: number, maxEnded: number) {
    this.#keyOf = keyOf;
    this.#lingerMs = lingerMs;
    this.#maxEnded = maxEnded;
  }

  /** @param isNamed - False: the run can be found by its id only. */
  add(run: Run, isNamed: boolean): void {
    this.#runs.set(run.mark, run);
    if (isNamed) this.#newest.set(this.#keyOf(run.name), run);
  }

  has(mark: string): boolean {
    return this.#runs.has(mark);
  }

  list(): readonly Run[] {
    return [...this.#runs.values()];
  }

  /** @throws ProcessError `notFound`. */
  find({ value, runId }: RunName): Run {
    const key = this.#keyOf(value);
    const run = runId === undefined ? this.#newest.get(key) : this.#runs.get(markOf(runId));
    if (run !== undefined && this.#keyOf(run.name) === key) return run;
    const which = runId === undefined ? '' : ' with that run id';
    const message = `cannot find ${quoteText(value)}${which}: no current or recent run matches`;
    throw new ProcessError('notFound', message);
  }

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
    this.#runs.delete(run.mark);
    const key = this.#keyOf(run.name);
    if (this.#newest.get(key) === run) this.#newest.delete(key);
  }
}

interface NameHolder<Holder> {
  readonly path: string;
  readonly holder: Holder;
  /** Resolves when the name is free again. */
  readonly released: Promise<void>;
}

/** Names in use; each belongs to one run at a time. */
export class RunNames<Holder> {
  readonly #keyOf: (name: string) => string;
  readonly #taken = new Map<string, NameHolder<Holder>>();

  constructor(keyOf: (name: string) => string) {
    this.#keyOf = keyOf;
  }

  holderOf(name: string): NameHolder<Holder> | undefined {
    return this.#taken.get(this.#keyOf(name));
  }

  /**
   * @param replace - If true, a run of the same program may hold the name.
   * @throws ProcessError `alreadyRunning`.
   */
  assertFree(name: string, path: string, replace = false): void {
    const holder = this.holderOf(name);
    if (holder === undefined || (replace && holder.path === path)) return;
    const message = `cannot start ${quoteText(path)}: ${quoteText(name)} is already running from ${quoteText(holder.path)}`;
    throw new ProcessError('alreadyRunning', message, { path: holder.path });
  }

  /**
   * Synchronous, so that two starts cannot both pass.
   *
   * @returns Function that releases the name. Call it once.
   * @throws ProcessError `alreadyRunning`.
   */
  take(name: string, path: string, holder: Holder): () => void {
    this.assertFree(name, path);
    const key = this.#keyOf(name);
    let free: () => void = () => undefined;
    const released = new Promise<void>((resolve) => (free = resolve));
    this.#taken.set(key, { path, holder, released });
    return () => {
      this.#taken.delete(key);
      free();
    };
  }
}
