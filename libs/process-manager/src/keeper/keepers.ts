import { rm } from 'node:fs/promises';
import path from 'node:path';
import { messageOf, type ProcessHost } from '@wins/base';
import type { Clock } from '@wins/time';
import type { RunFolders } from '../supervision/run-folders.js';
import type { KeeperRecord } from '../supervision/run-record.js';
import { ProcessError } from '../process-error.js';
import type { Note } from './note.js';
import { KeeperConnection } from './keeper-connection.js';
import type { KeptTree } from './kept-tree.js';
import type { KeeperTransport } from './keeper-transport.js';

/** Time that a daemon's start waits for a keeper that is busy or still connected to the previous daemon. */
const BUSY_MS = 5000;

/** Says how to start keepers, and which of the running ones may start runs. */
export interface KeepersOptions {
  /** Identifies the program of the keepers. Runs are started only with a keeper of this release; others keep what they have. */
  readonly release: string | Promise<string>;
  /**
   * Starts a keeper that serves, for example with {@link startKeeper}.
   *
   * @param stateDirectory - Private, and the same for all keepers.
   */
  readonly start: (stateDirectory: string) => Promise<KeeperRecord>;
  readonly transport: KeeperTransport;
  /** Removes programs of keepers that have ended. Called from time to time while this release has no keeper. Default: nothing. */
  readonly removeUnused?: ((stateDirectory: string) => Promise<void>) | undefined;
}

export interface KeepersParts extends KeepersOptions {
  readonly host: ProcessHost;
  readonly stateDirectory: string;
  readonly folders: RunFolders;
  readonly closing: AbortSignal;
  readonly clock: Clock;
  readonly graceMs: number;
  readonly note: Note;
}

/** A daemon's own keeper, which starts on demand, and keepers of other releases. */
export class Keepers {
  readonly #parts: KeepersParts;
  readonly #connections = new Set<KeeperConnection>();
  #own: Promise<KeeperConnection> | undefined;
  #release = '';

  constructor(parts: KeepersParts) {
    this.#parts = parts;
  }

  get hasOwn(): boolean {
    return this.#own !== undefined;
  }

  /** @param keeper - In the form of `ProcessHost.daemon`. */
  find(keeper: string): KeeperConnection | undefined {
    return [...this.#connections].find(({ record }) => record.keeper === keeper);
  }

  /**
   * Connects to living keepers, and removes the records of dead ones. Waits at most 5 s for busy keepers, then continues in the background.
   *
   * @param reached - Takes over the runs of each keeper.
   * @returns Whether a keeper is alive.
   */
  async adopt(reached: (keeper: KeeperConnection) => Promise<void>): Promise<boolean> {
    const { host, stateDirectory, folders, clock } = this.#parts;
    const release = (this.#release = await this.#parts.release);
    const reaching: Promise<void>[] = [];
    for (const record of await folders.keepers()) {
      if (host.isDaemonAlive(record.keeper)) {
        reaching.push(this.#reach(record, record.release === release, reached));
        continue;
      }
      await folders.keeper(record.keeper).remove();
      await rm(path.join(stateDirectory, path.basename(record.socket)), { force: true });
    }
    if (reaching.length === 0) return false;
    const inTime = new AbortController();
    const late = clock.wait(BUSY_MS, { signal: inTime.signal }).catch(() => undefined);
    await Promise.race([Promise.all(reaching), late]);
    inTime.abort('reached');
    return true;
  }

  /** Starts a run in the keeper of this release. If that keeper is ending, uses a new keeper. @throws ProcessError. */
  async start(...given: Parameters<KeeperConnection['start']>): Promise<KeptTree> {
    for (;;) {
      const keeper = await this.own();
      const kept = await keeper.start(...given);
      if (kept !== undefined) return kept;
    }
  }

  /** Starts the keeper of this release if necessary. @throws ProcessError. */
  async own(): Promise<KeeperConnection> {
    for (;;) {
      const own = (this.#own ??= this.#start());
      const forget = (): void => {
        if (this.#own === own) this.#own = undefined;
      };
      own.catch(forget);
      const keeper = await own;
      if (keeper.isOpen) return keeper;
      forget();
    }
  }

  /** Disconnects from keepers without runs, so that they end. */
  leaveIdle({ keepsOwn }: { readonly keepsOwn: boolean }): void {
    for (const keeper of [...this.#connections].filter(({ isIdle }) => isIdle)) {
      if (keepsOwn && keeper.record.release === this.#release) continue;
      this.#connections.delete(keeper);
      void this.#own?.then((own) => {
        if (own === keeper) this.#own = undefined;
      });
      keeper.close();
    }
  }

  /** Never rejects. */
  async endAll(signal: AbortSignal): Promise<void> {
    await Promise.allSettled([...this.#connections].map((keeper) => keeper.endAll(signal)));
  }

  /** Disconnects; keepers and runs continue. */
  close(): void {
    for (const keeper of this.#connections) keeper.close();
  }

  /** Has no time limit. Never rejects. */
  async #reach(
    record: KeeperRecord,
    isOfThisRelease: boolean,
    reached: (keeper: KeeperConnection) => Promise<void>,
  ): Promise<void> {
    const { note, closing } = this.#parts;
    try {
      const keeper = await KeeperConnection.open(record, this.#parts, closing);
      this.#connections.add(keeper);
      await reached(keeper);
      if (isOfThisRelease && keeper.isOpen) this.#own ??= Promise.resolve(keeper);
    } catch (err) {
      if (!closing.aborted)
        note('error', 'cannot reach a keeper of runs', { err, keeper: record.keeper });
    }
  }

  async #start(): Promise<KeeperConnection> {
    const { host, stateDirectory, folders, closing, start, note } = this.#parts;
    for (const each of [stateDirectory, folders.folder]) host.ensurePrivateDirectory(each);
    const record = await start(stateDirectory).catch((cause: unknown) => {
      const message = `cannot start a detached run: its keeper could not be started: ${messageOf(cause)}`;
      throw new ProcessError('stateUnavailable', message, { cause });
    });
    const signal = AbortSignal.any([closing, AbortSignal.timeout(BUSY_MS)]);
    const keeper = await KeeperConnection.open(record, this.#parts, signal).catch(() => undefined);
    if (keeper?.isOpen !== true) {
      const message = 'cannot start a detached run: its keeper does not answer';
      throw new ProcessError('stateUnavailable', message);
    }
    this.#connections.add(keeper);
    note('info', 'started a keeper of runs', { keeper: record.keeper });
    return keeper;
  }
}
