import { messageOf } from '@wins/wins-program';
import { FeatureError } from '../../../kernel/feature-error.js';
import { recorded } from '../decide/after-step.js';
import type { InstallRecord, ServiceCommand } from '../decide/install-record.js';
import type { KeeperOptions } from '../keeper-options.js';
import type { RecordFile } from './record-file.js';
import { seenProgram } from './remove-programs.js';

/** How long a process may take to end by itself. */
const GRACE_MS = 5_000;
/** A start that has not led to a pipe by then has failed. */
const PROVE_MS = 30_000;
/** The pipes of a process are gone with it, or belong to another one. */
const FREE_MS = 5_000;
const LOOK_EVERY_MS = 250;

/** Changes what the service runs, and proves it or puts back what was there. */
export class ServiceChange {
  readonly #options: KeeperOptions;
  readonly #records: RecordFile;
  readonly #signal: AbortSignal;
  readonly #graceMs: number;

  /** @param signal - Ends the waiting for a pipe: the change then has no end, and the next daemon gives it one. */
  constructor(options: KeeperOptions, records: RecordFile, signal: AbortSignal) {
    this.#options = options;
    this.#records = records;
    this.#signal = signal;
    this.#graceMs = options.graceMs ?? GRACE_MS;
  }

  /**
   * Has the service run something else: writes down what is about to change, stops it until no process of it is left, changes its words by
   * one durable act, starts it, and waits for its pipe. What does not serve is taken back: `from` runs again, or there is no service.
   *
   * @throws FeatureError `notServing` with how it was put back, `serviceFailed`, `fileFailed`; the reason of the signal.
   */
  async switch(
    { to, from }: { readonly to: ServiceCommand; readonly from?: ServiceCommand },
    record: InstallRecord,
    version: string,
  ): Promise<void> {
    const isTakenOver = from !== undefined && from.program === this.#options.goProgram;
    const obsolete = isTakenOver
      ? // What cannot be read is not removed either.
        await seenProgram(from.program).catch(() => undefined)
      : record.obsolete;
    const trial: InstallRecord = {
      ...{ ...record, trial: { to, ...(from && { from }) } },
      ...(obsolete && { obsolete }),
    };
    await this.#records.write(trial);
    try {
      await this.#stopAll([to, from]);
      await this.#setCommand(to);
      await this.#startAndProve(version);
    } catch (error) {
      if (this.#signal.aborted) throw error;
      const back = await this.#putBack(from, to, version);
      const { trial: _trial, ...before } = record;
      if (back.isDone) await this.#records.write(before);
      const code = error instanceof FeatureError ? error.code : 'serviceFailed';
      throw new FeatureError(code, `${messageOf(error)}; ${back.text}`, { cause: error });
    }
    // When this fails the trial stays in the record, and the next look finds that it is proven.
    await this.#records.write(recorded(trial, to));
  }

  /** Has the service run, and waits for its pipe; one that runs without a pipe is stopped first. @throws as {@link switch}. */
  async start(command: ServiceCommand, isRunning: boolean, version: string): Promise<void> {
    if (isRunning) {
      // It may have been started a moment ago.
      this.#options.onState({ kind: 'installed', version });
      if (await this.#isProven()) return;
    }
    await this.#stopAll([command]);
    await this.#startAndProve(version);
  }

  /** Takes the service away, with each process of it. @throws FeatureError `serviceFailed`. */
  async remove(command: ServiceCommand | undefined): Promise<void> {
    const { service } = this.#options;
    await service.stop(this.#graceMs);
    if (command !== undefined) await service.endLeftovers(command.program);
    await service.remove();
  }

  async #stopAll(commands: readonly (ServiceCommand | undefined)[]): Promise<void> {
    const { service, clock } = this.#options;
    if ((await service.query()) !== undefined) await service.stop(this.#graceMs);
    for (const program of new Set(commands.map((command) => command?.program)))
      if (program !== undefined) await service.endLeftovers(program);
    const endMs = clock.now().getTime() + FREE_MS;
    while (await service.isServing()) {
      if (clock.now().getTime() >= endMs) {
        const found = 'another process serves its pipe';
        const message = `cannot start the service ${service.name}: found that ${found}; wanted the pipe free; see who runs csi-proxy.exe`;
        throw new FeatureError('serviceFailed', message);
      }
      await clock.wait(LOOK_EVERY_MS);
    }
  }

  async #setCommand(command: ServiceCommand): Promise<void> {
    const { service } = this.#options;
    if ((await service.query()) === undefined) await service.create(command);
    else await service.setCommand(command);
  }

  async #startAndProve(version: string): Promise<void> {
    const { service, onState } = this.#options;
    await service.start();
    onState({ kind: 'installed', version });
    if (await this.#isProven()) return;
    const message = `cannot use the service ${service.name}: found no pipe of it in ${PROVE_MS / 1000} s; wanted it to serve csi-proxy-filesystem-v1; see csi-proxy.log`;
    throw new FeatureError('notServing', message);
  }

  async #isProven(): Promise<boolean> {
    const { service, clock } = this.#options;
    const endMs = clock.now().getTime() + PROVE_MS;
    for (;;) {
      if ((await service.isServing()) && (await service.query())?.isRunning === true) return true;
      if (clock.now().getTime() >= endMs) return false;
      await clock.wait(LOOK_EVERY_MS, this.#signal);
    }
  }

  async #putBack(
    from: ServiceCommand | undefined,
    to: ServiceCommand,
    version: string,
  ): Promise<{ readonly isDone: boolean; readonly text: string }> {
    try {
      if (from === undefined) {
        await this.remove(to);
        return { isDone: true, text: 'the new service was removed again' };
      }
      await this.#setCommand(from);
      await this.#stopAll([to]);
      await this.#startAndProve(version);
      return { isDone: true, text: 'what ran before was put back, and serves' };
    } catch (error) {
      // The first cause is the one that is told; the next try finds the trial in the record.
      return { isDone: false, text: `it could not be put back: ${messageOf(error)}` };
    }
  }
}
