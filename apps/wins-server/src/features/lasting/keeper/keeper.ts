// Longer than most files, because the requests of the daemon and the ends of programs change the same table of runs.
import { Backoff, systemClock, type Clock } from '@wins/time';
import {
  errnoOf,
  messageOf,
  type HostExit,
  type HostProcess,
  type IdentifyClient,
  type ProcessHost,
} from '@wins/base';
import { listenPipe, type PipeListener } from '@wins/pipe-transport';
import { endProcessTree, ProcessError, SpoolWriter } from '@wins/process-manager';
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import type { Socket } from 'node:net';
import path from 'node:path';
import type { DaemonSystem } from '../../../operating-system.js';
import {
  folderNameOf,
  RunFolders,
  type KeeperRecord,
  type KeptEnd,
  type KeptFigures,
  type KeptRun,
} from '../run-folders.js';
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

/** Grace period of a run. The process manager uses the same period when a run's leader has ended. */
const GRACE_MS = 10_000;
/** Time in which a caller must send its hello. */
const HELLO_MS = 5000;
/** A new keeper ends after this time if it has no run and no daemon is connected. */
const UNUSED_MS = 30_000;
/** Minimum interval between two reports of new output. */
const TELL_MS = 10;

type StartMessage = Extract<DaemonMessage, { readonly kind: 'start' }>;

export interface KeeperOptions {
  /** Absolute path. */
  readonly stateDirectory: string;
  readonly host: ProcessHost;
  readonly release: string;
  /** Identifies clients. If present, the keeper accepts only administrators. */
  readonly identify: IdentifyClient | undefined;
  /** Present only on systems where pipes are not files. If absent, the keeper serves a socket in the state folder. */
  readonly adminPipe?: DaemonSystem['adminPipe'];
  /** Default: the system clock. */
  readonly clock?: Clock;
  /** Time that no setting of the clock changes, in milliseconds. Default: `performance.now`. */
  readonly monotonicMs?: () => number;
}

/**
 * Owns programs that outlive the daemon: their processes, pipes and output. It serves one daemon at a time, makes no decisions, and ends
 * when it has neither a run nor a daemon.
 */
export class Keeper {
  readonly record: KeeperRecord;
  /** Resolves when nothing is left to do. */
  readonly over: Promise<void>;
  readonly #options: KeeperOptions;
  readonly #folders: RunFolders;
  readonly #runs = new Map<string, RunOfKeeper>();
  readonly #finish: () => void;
  readonly #clock: Clock;
  readonly #monotonicMs: () => number;
  #listener: PipeListener | undefined;
  #daemon: MessageEnd<KeeperMessage> | undefined;
  #unused: NodeJS.Timeout | undefined;
  #starts = 0;
  #isEnding = false;
  #isOver = false;

  constructor(options: KeeperOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#monotonicMs = options.monotonicMs ?? (() => performance.now());
    this.#folders = new RunFolders(options.stateDirectory);
    let finish = (): void => undefined;
    this.over = new Promise((resolve) => (finish = resolve));
    this.#finish = finish;
    this.record = {
      version: 1,
      keeper: options.host.daemon,
      socket:
        options.adminPipe === undefined
          ? // Short: the name of a Unix socket has 107 bytes at most.
            path.join(options.stateDirectory, `k.${randomBytes(4).toString('hex')}`)
          : `rancher_wins_keeper_${randomBytes(16).toString('hex')}`,
      token: randomBytes(32).toString('hex'),
      release: options.release,
    };
  }

  /** @throws PipeError, TrustedFileError. */
  async listen(): Promise<void> {
    const { host, stateDirectory, adminPipe } = this.#options;
    const { security, identify = this.#options.identify } = adminPipe ?? {};
    host.ensurePrivateDirectory(stateDirectory);
    host.ensurePrivateDirectory(this.#folders.folder);
    this.#listener = await listenPipe(this.record.socket, {
      ...{ security, identify },
      maxConnections: 8,
      onConnection: (socket, client) => {
        // Third barrier against other users, after the private folder and the token in it.
        if (identify !== undefined && !client.isAdministrator) socket.destroy();
        else this.#serve(socket);
      },
    });
    await this.#folders.keeper(this.record.keeper).write(this.record);
    this.#unused = setTimeout(() => this.#endIfIdle(), UNUSED_MS);
  }

  /** Ends all runs and then the keeper, when the system shuts down or the program is removed. */
  endAll(): void {
    this.#isEnding = true;
    this.#endIfIdle();
    for (const run of this.#runs.values()) run.stop();
  }

  async close(): Promise<void> {
    clearTimeout(this.#unused);
    await this.#folders.keeper(this.record.keeper).remove();
    await this.#listener?.close();
  }

  #serve(socket: Socket): void {
    let isWelcome = false;
    const greeted = new AbortController();
    // The few places would be taken for the next daemon by callers that say nothing.
    this.#clock.wait(HELLO_MS, greeted.signal).then(
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
        greeted.abort();
        this.#daemon = end;
        end.send({ kind: 'welcome', protocol: KEEPER_PROTOCOL, runs: [...this.#runs.keys()] });
        for (const run of this.#runs.values()) run.tellExit();
      },
      () => {
        greeted.abort();
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
    if (message.kind === 'end') {
      this.endAll();
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
      const run = this.#runs.get(message.mark);
      if (message.kind === 'terminate') {
        await run?.terminate(message.mode);
        end.send({ kind: 'done', id });
        return;
      }
      const isGone = (await run?.process.isGone()) ?? true;
      const figures = await run?.measure();
      end.send({ kind: 'looked', id, isGone, ...(figures && { figures }) });
    } catch (error) {
      const code = errnoOf(error) ?? 'unknown';
      end.send({ kind: 'failed', id, code, message: messageOf(error) });
    }
  }

  async #start({ command, run }: StartMessage) {
    const { mark } = command;
    this.#starts += 1;
    try {
      if (run.continues === undefined) await mkdir(this.#folders.folderOf(mark), { mode: 0o700 });
      this.#assertMeans(command, run.run);
      const process = await this.#options.host.start(command, { reusesBuffer: true });
      const { pid, startToken } = process;
      const whole = {
        ...run,
        keeper: this.record.keeper,
        pid,
        startToken,
        startedAtMs: this.#clock.now().getTime(),
      };
      const kept = new RunOfKeeper(whole, process, this.#folders, {
        clock: this.#clock,
        monotonicMs: this.#monotonicMs,
        tell: (message) => this.#daemon?.send(message),
        settled: (figures) => {
          this.#runs.delete(mark);
          this.#daemon?.send({ kind: 'settled', mark, figures });
          this.#endIfIdle();
        },
      });
      this.#runs.set(mark, kept);
      if (this.#daemon === undefined) kept.daemonLeft();
      try {
        await this.#folders.run(folderNameOf(whole)).write(whole);
      } catch (error) {
        // Without a record no daemon could find the process again, so it is ended.
        await endProcessTree(process, 0);
        throw error;
      }
      if (this.#isEnding) kept.stop();
      return { pid, startToken };
    } catch (error) {
      const isNew = run.continues === undefined;
      if (isNew && !this.#runs.has(mark)) await this.#folders.remove(mark);
      throw error;
    } finally {
      this.#starts -= 1;
    }
  }

  /** Refuses limits if the keeper would not enforce them by the means that the daemon promised the client. */
  #assertMeans({ limits }: StartMessage['command'], run: KeptRun['run']): void {
    if (limits === undefined) return;
    const means = this.#options.host.limitMeans?.(limits);
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
  readonly clock: Pick<Clock, 'now'>;
  readonly monotonicMs: () => number;
  readonly tell: (message: KeeperMessage) => void;
  readonly settled: (figures: KeptFigures) => void;
}

/** A run, from its start until its exit is stored on disk. */
class RunOfKeeper {
  readonly process: HostProcess;
  readonly #run: KeptRun;
  readonly #folders: RunFolders;
  readonly #parts: RunParts;
  readonly #spool: SpoolWriter;
  #exit: HostExit | undefined;
  #reason: 'exited' | 'outOfMemory' | 'stopped' | 'daemonStopping' = 'exited';
  #lease: NodeJS.Timeout | undefined;
  #readTo = 0;
  #telling: NodeJS.Timeout | undefined;
  #hasUntold = false;
  readonly #output = { stdoutBytes: 0, stderrBytes: 0, pauses: 0 };

  constructor(run: KeptRun, process: HostProcess, folders: RunFolders, parts: RunParts) {
    this.process = process;
    this.#run = run;
    this.#folders = folders;
    this.#parts = parts;
    this.#spool = new SpoolWriter({
      folder: folders.folderOf(folderNameOf(run)),
      maxBytes: run.spoolBytes,
      ...(run.continues && { from: run.continues.outputBytes }),
      onWritten: () => this.#tellWritten(),
      onCaughtUp: () => this.#goOn(),
    });
    void this.#follow();
  }

  async measure(): Promise<KeptFigures> {
    const usage = await this.process.usage();
    return { ...(usage && { usage }), output: { ...this.#output } };
  }

  terminate(mode: 'graceful' | 'force'): Promise<void> {
    if (this.#exit === undefined) this.#reason = 'stopped';
    return this.process.terminate(mode);
  }

  /** Ends the run with its grace period, although no client asked for it. */
  stop(): void {
    if (this.#exit === undefined) this.#reason = 'daemonStopping';
    void endProcessTree(this.process, GRACE_MS);
  }

  /** Starts the lease of a held run: the run ends unless a daemon adopts it in time. */
  daemonLeft(): void {
    const { leaseMs } = this.#run;
    if (leaseMs !== undefined) this.#lease = setTimeout(() => this.stop(), leaseMs);
  }

  /**
   * Records that output before this offset was read. Also cancels the timer of the lease. A daemon's connection alone does not cancel the timer,
   * because the daemon may be of an earlier release, which does not support leases.
   */
  readTo(offset: number): void {
    clearTimeout(this.#lease);
    this.#readTo = Math.max(this.#readTo, offset);
    this.#goOn();
  }

  /** True while the program must wait for the disk or, if a client holds the run, for a reader. */
  get #mustWait(): boolean {
    if (this.#spool.isBehind) return true;
    const isHeld = this.#run.leaseMs !== undefined && this.#exit === undefined;
    return isHeld && this.#spool.isFullFrom(this.#readTo);
  }

  #goOn(): void {
    const { stdout, stderr } = this.process;
    if (!this.#mustWait) [stdout, stderr].forEach((output) => output.resume());
  }

  tellExit(): void {
    const { mark } = this.#run.run;
    if (this.#exit !== undefined) this.#parts.tell({ kind: 'exited', mark, exit: this.#exit });
  }

  async #follow(): Promise<void> {
    const { stdout, stderr } = this.process;
    const outputs = (['stdout', 'stderr'] as const).map((name) => {
      const output = this.process[name];
      output.on('data', (bytes: Buffer) => {
        this.#spool.append(name, bytes);
        this.#output[`${name}Bytes`] += bytes.length;
        if (!this.#mustWait) return;
        if (!output.isPaused()) this.#output.pauses += 1;
        [stdout, stderr].forEach((each) => each.pause());
      });
      // The error is ignored, because `close` follows and ends the wait.
      output.on('error', () => undefined);
      return new Promise((resolve) => output.once('close', resolve));
    });
    this.#goOn();
    const { clock, monotonicMs } = this.#parts;
    const startedMs = monotonicMs();
    const exit = (this.#exit = await this.process.exited);
    const livedMs = Math.round(monotonicMs() - startedMs);
    if (exit.outOfMemory === true && this.#reason === 'exited') this.#reason = 'outOfMemory';
    clearTimeout(this.#lease);
    this.#goOn();
    this.tellExit();
    await endProcessTree(this.process, GRACE_MS);
    // A process outside the run may keep a pipe open, so the wait for the pipes is limited.
    const late = setTimeout(() => this.process.close(), GRACE_MS);
    await Promise.all(outputs);
    clearTimeout(late);
    // Measured before the process handles are closed.
    const figures = await this.measure();
    this.process.close();
    await this.#spool.close();
    clearTimeout(this.#telling);
    await this.#record({
      ...{
        version: 1,
        mark: this.#run.run.mark,
        code: exit.code,
        ...(exit.signal && { signal: exit.signal }),
        reason: this.#reason,
        endedAtMs: clock.now().getTime(),
        livedMs,
      },
      ...{ outputBytes: this.#spool.offset, figures },
    });
    this.#parts.settled(figures);
  }

  /** On a disk error, removes old output to make space. Retries until the write succeeds or the run is removed. */
  async #record(end: KeptEnd): Promise<void> {
    const again = new Backoff({ initialMs: 100, maxMs: 60_000 });
    for (;;) {
      try {
        await this.#folders.end(folderNameOf(this.#run)).write(end);
        return;
      } catch (error) {
        // The run was removed meanwhile.
        if (errnoOf(error) === 'notFound') return;
        if (!(await this.#spool.yieldSpace())) await again.wait();
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
