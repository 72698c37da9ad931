import { ProcessError } from '@wins/process-manager';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Kernel } from '../../../kernel/feature.js';
import type { KeeperRecord, RunFolders } from '../run-folders.js';
import { KeeperConnection } from './keeper-connection.js';
import type { KeptTree } from './kept-tree.js';
import { startKeeper } from './start-keeper.js';

/** Time that a daemon's start waits for a keeper that is busy or still connected to the previous daemon. */
const BUSY_MS = 5000;
/** As in the process manager. */
export const GRACE_MS = 10_000;

export interface KeepersParts {
  readonly kernel: Pick<
    Kernel,
    'stateDirectory' | 'processHost' | 'system' | 'program' | 'checksum' | 'logger'
  >;
  readonly folders: RunFolders;
  readonly closing: AbortSignal;
  /** Default: starts a process of this program. */
  readonly start: typeof startKeeper | undefined;
  /** Time between asking a run to end and killing it. Default 10,000. */
  readonly graceMs: number | undefined;
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
    const { kernel, folders } = this.#parts;
    const release = (this.#release = await kernel.checksum);
    const reaching: Promise<void>[] = [];
    for (const record of await folders.keepers()) {
      if (kernel.processHost.isDaemonAlive(record.keeper)) {
        reaching.push(this.#reach(record, record.release === release, reached));
        continue;
      }
      await folders.keeper(record.keeper).remove();
      await rm(path.join(kernel.stateDirectory, path.basename(record.socket)), { force: true });
    }
    const inTime = new AbortController();
    const late = delay(BUSY_MS, undefined, { signal: inTime.signal }).catch(() => undefined);
    await Promise.race([Promise.all(reaching), late]);
    inTime.abort();
    return reaching.length > 0;
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
    const { kernel, closing } = this.#parts;
    try {
      const keeper = await this.#connect(record, closing);
      this.#connections.add(keeper);
      await reached(keeper);
      if (isOfThisRelease && keeper.isOpen) this.#own ??= Promise.resolve(keeper);
    } catch (err) {
      if (!closing.aborted)
        kernel.logger.error({ err, keeper: record.keeper }, 'cannot reach a keeper of runs');
    }
  }

  async #connect(record: KeeperRecord, signal: AbortSignal): Promise<KeeperConnection> {
    const { processHost, system, logger } = this.#parts.kernel;
    const check = system.detachedProcesses?.serverCheck(record.keeper);
    const { graceMs = GRACE_MS } = this.#parts;
    const parts = { host: processHost, graceMs };
    const connection = await KeeperConnection.open(record, parts, signal, check);
    const { distrust: problem } = connection;
    if (problem !== undefined) {
      const { keeper } = record;
      logger.error({ keeper, problem }, 'another process serves the pipe of a keeper of runs');
    }
    return connection;
  }

  async #start(): Promise<KeeperConnection> {
    const { kernel, folders, closing, start = startKeeper } = this.#parts;
    const { program, checksum, stateDirectory, processHost, system, logger } = kernel;
    for (const each of [stateDirectory, folders.folder]) processHost.ensurePrivateDirectory(each);
    const processes = system.detachedProcesses;
    const record = await start({ program, release: await checksum, stateDirectory, processes });
    const signal = AbortSignal.any([closing, AbortSignal.timeout(BUSY_MS)]);
    const keeper = await this.#connect(record, signal).catch(() => undefined);
    if (keeper?.isOpen !== true) {
      const message = 'cannot start a detached run: its keeper does not answer';
      throw new ProcessError('stateUnavailable', message);
    }
    this.#connections.add(keeper);
    logger.info({ keeper: record.keeper }, 'started a keeper of runs');
    return keeper;
  }
}
