import type { CompleteOptions } from '../manager-options.js';
import { messageOf, Serial, type ExposedPort, type PortOpener } from '@wins/base';
import type { EventRun, PortsOutcome, ManagerEvent } from './managed-process.js';
import { ProcessError, type ProcessErrorCode } from '../process-error.js';

/** Opens a run's ports before its program starts. Closes them after the program ends, one run at a time. */
export class ExposedPorts {
  readonly #opener: PortOpener | undefined;
  readonly #onEvent: (event: ManagerEvent) => void;
  readonly #stopping = new AbortController();
  readonly #open = new Set<string>();
  /** Runs whose ports could not be closed, in the order of the retries. */
  readonly #stuck = new Set<string>();
  readonly #closings = new Serial();

  constructor({ portOpener, onEvent }: Pick<CompleteOptions, 'portOpener' | 'onEvent'>) {
    this.#opener = portOpener;
    this.#onEvent = onEvent;
  }

  decide(ports: readonly ExposedPort[]): PortsOutcome | undefined {
    if (ports.length === 0) return undefined;
    if (this.#opener === undefined) return { kind: 'asTheHostHasThem' };
    const why = this.#opener.whyNotNeeded?.();
    return why === undefined ? { kind: 'opened' } : { kind: 'notNeeded', why };
  }

  /**
   * Opens the ports if `decide` returned `opened`.
   *
   * @param abandoned - Each signal aborts the start.
   * @throws ProcessError `portsNotOpened`, `aborted`, `shuttingDown`; nothing is left open then.
   */
  async open(
    { mark, path, entry }: EventRun,
    { ports, outcome }: { ports: readonly ExposedPort[]; outcome: PortsOutcome | undefined },
    abandoned: readonly AbortSignal[],
  ): Promise<void> {
    if (outcome?.kind === 'notNeeded')
      this.#onEvent({ type: 'portsNotOpened', mark, path, entry, why: outcome.why });
    if (outcome?.kind !== 'opened' || this.#opener === undefined) return;
    const signal = AbortSignal.any([...abandoned, this.#stopping.signal]);
    this.#open.add(mark);
    try {
      signal.throwIfAborted();
      await this.#opener.open(mark, ports, { signal });
      signal.throwIfAborted();
    } catch (cause) {
      this.close(mark);
      this.#onEvent({ type: 'startFailed', mark, path, entry, error: cause });
      const asked = ports.map(({ protocol, port }) => `${protocol} ${port}`).join(', ');
      const message = `cannot open ${asked}: ${messageOf(cause)}`;
      throw new ProcessError(this.#codeOf(signal), message, { cause, mark });
    }
  }

  /** Closes ports in the background; reports a failure as an event and retries later. */
  close(mark: string): void {
    if (!this.#open.delete(mark)) return;
    void this.#closings.run(() => this.#closeAll([mark]));
  }

  /** Aborts all openings in progress and refuses later ones. */
  abort(): void {
    this.#stopping.abort();
  }

  /** Resolves after the pending closings and one more round of retries. */
  settle(): Promise<void> {
    return this.#closings.run(() => this.#closeAll([]));
  }

  #codeOf(signal: AbortSignal): ProcessErrorCode {
    if (this.#stopping.signal.aborted) return 'shuttingDown';
    return signal.aborted ? 'aborted' : 'portsNotOpened';
  }

  /** Closes the ports of `marks`, then retries those of `#stuck`. Stops at the first failure. */
  async #closeAll(marks: readonly string[]): Promise<void> {
    for (const mark of new Set([...marks, ...this.#stuck])) {
      try {
        await this.#opener?.close(mark);
        this.#stuck.delete(mark);
      } catch (error) {
        // Move this run to the end: the others are retried first.
        this.#stuck.delete(mark);
        this.#stuck.add(mark);
        this.#onEvent({ type: 'portsNotClosed', mark, error });
        return;
      }
    }
  }
}
