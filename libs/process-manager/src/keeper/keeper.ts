// Longer than most files, because the requests of the daemon and the ends of programs change the same table of runs.
import { Backoff, systemClock, type Clock } from '@wins/time';
import { errnoOf, messageOf, type HostProcess, type ProcessHost } from '@wins/base';
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import type { Socket } from 'node:net';
import path from 'node:path';
import { RunFolders } from '../supervision/run-folders.js';
import {
  folderNameOf,
  type KeeperRecord,
  type RunEnd,
  type DetachedRecord,
} from '../supervision/run-record.js';
import { hostOf, type HostOf } from '../manager-options.js';
import { SpoolLog } from '../output/spool-log.js';
import { ProcessError } from '../process-error.js';
import type { ProcessExit } from '../supervision/managed-process.js';
import { KeepAliveLease } from '../supervision/keep-alive-lease.js';
import { LocalTree } from '../supervision/supervised-tree.js';
import {
  ANOTHER_DAEMON,
  daemonMessage,
  ENDING,
  KEEPER_PROTOCOL,
  speakMessages,
  type DaemonMessage,
  type KeeperMessage,
  type MessageEnd,
} from './keeper-messages.js';
import type { KeeperTransport } from './keeper-transport.js';

/** Time in which a caller must send its hello. */
const HELLO_MS = 5000;
/** A new keeper ends after this time if it has no run and no daemon is connected. */
const UNUSED_MS = 30_000;
/** Minimum interval between two reports of new output. */
const TELL_MS = 10;

type StartMessage = Extract<DaemonMessage, { readonly kind: 'start' }>;

/** Options of {@link Keeper}. */
export interface KeeperOptions {
  /** Absolute path. */
  readonly stateDirectory: string;
  readonly host: HostOf;
  /** Identifies the program of this keeper; goes into its {@link KeeperRecord}. */
  readonly release: string;
  readonly transport: KeeperTransport;
  /** Default: the system clock. */
  readonly clock?: Clock | undefined;
}

/**
 * Owns programs that outlive the daemon: their processes, pipes and output. It serves one daemon at a time, makes no decisions, and ends
 * when it has neither a run nor a daemon. This file is long, because a run and its keeper share the connection, the records and the clock.
 */
export class Keeper implements AsyncDisposable {
  readonly record: KeeperRecord;
  /** Resolves when nothing is left to do. */
  readonly over: Promise<void>;
  readonly #options: KeeperOptions;
  readonly #host: ProcessHost;
  readonly #folders: RunFolders;
  readonly #runs = new Map<string, RunOfKeeper>();
  readonly #finish: () => void;
  readonly #clock: Clock;
  #listener: { close(): Promise<void> } | undefined;
  #daemon: MessageEnd<KeeperMessage> | undefined;
  #unused: NodeJS.Timeout | undefined;
  #starts = 0;
  #isEnding = false;
  #isOver = false;

  constructor(options: KeeperOptions) {
    this.#options = options;
    this.#host = hostOf(options.host);
    this.#clock = options.clock ?? systemClock;
    this.#folders = new RunFolders(options.stateDirectory);
    let finish = (): void => undefined;
    this.over = new Promise((resolve) => (finish = resolve));
    this.#finish = finish;
    this.record = {
      version: 1,
      keeper: this.#host.daemon,
      socket:
        options.transport.newAddress?.() ??
        // Short: the name of a Unix socket has 107 bytes at most.
        path.join(options.stateDirectory, `k.${randomBytes(4).toString('hex')}`),
      token: randomBytes(32).toString('hex'),
      release: options.release,
    };
  }

  /** @throws TrustedFileError, and the errors of the transport. */
  async listen(): Promise<void> {
    const { stateDirectory, transport } = this.#options;
    const host = this.#host;
    host.ensurePrivateDirectory(stateDirectory);
    host.ensurePrivateDirectory(this.#folders.folder);
    this.#listener = await transport.listen(this.record.socket, (socket) => this.#serve(socket));
    await this.#folders.keeper(this.record.keeper).write(this.record);
    this.#unused = setTimeout(() => this.#endIfIdle(), UNUSED_MS);
  }

  /** Ends all runs and then the keeper, when the system shuts down or the program is removed. */
  endAll(): void {
    this.#isEnding = true;
    this.#endIfIdle();
    for (const run of this.#runs.values()) run.tree.end('daemonStopping');
  }

  async close(): Promise<void> {
    clearTimeout(this.#unused);
    await this.#folders.keeper(this.record.keeper).remove();
    await this.#listener?.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #serve(socket: Socket): void {
    let isWelcome = false;
    const greeted = new AbortController();
    // The few places would be taken for the next daemon by callers that say nothing.
    this.#clock.wait(HELLO_MS, { signal: greeted.signal }).then(
      () => socket.destroy(),
      () => undefined,
    );
    const end: MessageEnd<KeeperMessage> = speakMessages(
      socket,
      daemonMessage,
      (message) => {
        if (isWelcome) {
          void this.#answer(message, end);
          return;
        }
        const why = this.#whyRefused(message);
        if (why !== undefined) {
          end.send({ kind: 'refused', why });
          socket.end();
          return;
        }
        isWelcome = true;
        greeted.abort('greeted');
        this.#daemon = end;
        // The states come first, so that a daemon never takes over a run as running that is being stopped.
        for (const run of this.#runs.values()) run.tellState();
        end.send({ kind: 'welcome', protocol: KEEPER_PROTOCOL, runs: [...this.#runs.keys()] });
      },
      () => {
        greeted.abort('closed');
        if (this.#daemon !== end) return;
        this.#daemon = undefined;
        for (const run of this.#runs.values()) run.daemonLeft();
        this.#endIfIdle();
      },
    );
  }

  #whyRefused(message: DaemonMessage): string | undefined {
    if (message.kind !== 'hello') return 'found another message; wanted hello';
    const [found, wanted] = [Buffer.from(message.token), Buffer.from(this.record.token)];
    const isRight = found.length === wanted.length && timingSafeEqual(found, wanted);
    if (!isRight) return 'found another token';
    if (message.protocol !== KEEPER_PROTOCOL) return `it speaks protocol ${KEEPER_PROTOCOL}`;
    if (this.#isOver || this.#isEnding) return ENDING;
    return this.#daemon === undefined ? undefined : ANOTHER_DAEMON;
  }

  async #answer(message: DaemonMessage, end: MessageEnd<KeeperMessage>): Promise<void> {
    if (message.kind === 'hello') return;
    if (message.kind === 'endAll') {
      this.endAll();
      return;
    }
    if (message.kind === 'end') {
      this.#runs.get(message.mark)?.tree.end(message.reason, message.force);
      return;
    }
    if (message.kind === 'read') {
      this.#runs.get(message.mark)?.readTo(message.offset);
      return;
    }
    const { id } = message;
    try {
      if (message.kind === 'start') {
        if (this.#isOver || this.#isEnding) end.send({ kind: 'ending', id });
        else end.send({ kind: 'started', id, ...(await this.#start(message)) });
        return;
      }
      const figures = await this.#runs.get(message.mark)?.tree.measure();
      end.send({ kind: 'measured', id, figures });
    } catch (error) {
      const code = errnoOf(error) ?? 'unknown';
      end.send({ kind: 'failed', id, code, message: messageOf(error) });
    }
  }

  async #start({ command, run, graceMs }: StartMessage) {
    const { mark } = command;
    const isNew = run.continues === undefined;
    this.#starts += 1;
    try {
      if (isNew) await mkdir(this.#folders.folderOf(mark), { mode: 0o700 });
      this.#folders.reserveEnd(folderNameOf(run));
      this.#assertMeans(command, run.run);
      const process = await this.#host.start(command, { reusesBuffer: true });
      const kept = new RunOfKeeper(run, process, this.#folders, {
        supervisor: this.record.keeper,
        graceMs,
        clock: this.#clock,
        tell: (message) => this.#daemon?.send(message),
        ended: () => {
          this.#runs.delete(mark);
          this.#endIfIdle();
        },
      });
      const { tree } = kept;
      this.#runs.set(mark, kept);
      if (this.#daemon === undefined) kept.daemonLeft();
      const { pid, startToken, startedAtMs, supervisor } = tree;
      const record = { ...run, supervisor, pid, startToken, startedAtMs };
      try {
        await this.#folders.run(folderNameOf(run)).write(record);
      } catch (error) {
        // Without a record no daemon could find the process again.
        kept.isUnrecorded = true;
        tree.end('hostFailed', true);
        await tree.ended;
        throw error;
      }
      if (this.#isEnding) tree.end('daemonStopping');
      return { pid, startToken, startedAtMs };
    } catch (error) {
      if (isNew) await this.#folders.remove(mark);
      throw error;
    } finally {
      this.#starts -= 1;
      // The run may have ended, and the daemon may have left, before the start was over.
      this.#endIfIdle();
    }
  }

  /** Refuses limits if the keeper would not enforce them by the means that the daemon promised the client. */
  #assertMeans({ limits }: StartMessage['command'], run: DetachedRecord['run']): void {
    if (limits === undefined) return;
    const means = this.#host.limitMeans?.(limits);
    if (means === run.limits?.means) return;
    const found = `its keeper limits by ${means}; wanted ${run.limits?.means}`;
    throw new ProcessError('limitsUnavailable', `cannot limit a run: ${found}`);
  }

  #endIfIdle(): void {
    if (this.#runs.size > 0 || this.#starts > 0) return;
    if (this.#daemon !== undefined && !this.#isEnding) return;
    this.#isOver = true;
    this.#finish();
  }
}

interface RunParts {
  readonly supervisor: string;
  readonly graceMs: number;
  readonly clock: Clock;
  readonly tell: (message: KeeperMessage) => void;
  /** Called when the end is recorded. */
  readonly ended: () => void;
}

/** A run, from its start until its exit is stored on disk. */
class RunOfKeeper {
  readonly tree: LocalTree<SpoolLog>;
  /** True if the attempt has no record. Its end is not recorded then, because it would hide that of the attempt before. */
  isUnrecorded = false;
  readonly #run: StartMessage['run'];
  readonly #folders: RunFolders;
  readonly #parts: RunParts;
  /** Runs while no daemon has the run of a connected client. */
  #lease: KeepAliveLease | undefined;
  #telling: NodeJS.Timeout | undefined;
  #hasUntold = false;

  constructor(
    run: StartMessage['run'],
    process: HostProcess,
    folders: RunFolders,
    parts: RunParts,
  ) {
    this.#run = run;
    this.#folders = folders;
    this.#parts = parts;
    const spool = {
      folder: folders.folderOf(folderNameOf(run)),
      maxBytes: run.spoolBytes,
      awaitsReader: run.leaseMs !== undefined,
      from: run.continues?.outputBytes,
      onWritten: () => this.#tellWritten(),
    };
    this.tree = new LocalTree(process, {
      ...parts,
      log: (source) => new SpoolLog(spool, source),
      onMoved: ({ kind }) => {
        if (kind !== 'ended') this.tellState();
      },
    });
    void this.tree.ended.then((exit) => this.#end(exit));
  }

  /** Starts the lease: a run with a lease ends unless a daemon takes it over in time. */
  daemonLeft(): void {
    const { leaseMs } = this.#run;
    if (leaseMs === undefined) return;
    this.#lease?.stopClock();
    this.#lease = new KeepAliveLease(leaseMs, () => {
      this.tree.end('daemonStopping');
      return true;
    });
  }

  /**
   * Records that output before this offset was read, and claims the lease. A daemon's connection alone does not claim it, because the
   * daemon may fail to take the run over.
   */
  readTo(offset: number): void {
    this.#lease?.claim();
    this.tree.log.readTo(offset);
  }

  tellState(): void {
    const { state } = this.tree;
    if (state.kind === 'running') return;
    // The daemon receives an end once it is recorded. A daemon that connects before must not take the run for a living one.
    const sent =
      state.kind === 'ended' ? ({ kind: 'draining', reason: state.exit.reason } as const) : state;
    this.#parts.tell({ kind: 'moved', mark: this.#run.run.mark, state: sent });
  }

  async #end(exit: ProcessExit): Promise<void> {
    const { tell, ended, clock } = this.#parts;
    const { isGone, isCutOff, livedMs, log } = this.tree;
    const figures = await this.tree.measure();
    const { mark } = this.#run.run;
    this.#lease?.stopClock();
    clearTimeout(this.#telling);
    const end: RunEnd = {
      version: 1,
      mark,
      ...exit,
      endedAtMs: clock.now().getTime(),
      livedMs,
      outputBytes: log.offset,
      figures,
    };
    if (!this.isUnrecorded) await this.#record(end);
    tell({ kind: 'ended', mark, end, isGone, isCutOff });
    ended();
  }

  /** On a disk error, removes old output to make space. Retries until the write succeeds or the run is removed. */
  async #record(end: RunEnd): Promise<void> {
    const again = new Backoff({ initialMs: 100, maxMs: 60_000 });
    for (;;) {
      try {
        await this.#folders.writeEnd(folderNameOf(this.#run), end);
        return;
      } catch (error) {
        // The run was removed meanwhile.
        if (errnoOf(error) === 'notFound') return;
        if (!(await this.tree.log.yieldSpace())) await again.wait();
      }
    }
  }

  /** Reports the first new output at once. Reports later output at most once per {@link TELL_MS}. */
  #tellWritten(): void {
    this.#hasUntold = this.#telling !== undefined;
    if (this.#hasUntold) return;
    this.#parts.tell({ kind: 'written', mark: this.#run.run.mark });
    this.#telling = setTimeout(() => {
      this.#telling = undefined;
      if (this.#hasUntold) this.#tellWritten();
    }, TELL_MS);
  }
}
