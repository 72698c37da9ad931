// Longer than most files, because the connection and the runs that it delivers share the keeper's messages and its end.
import { connectPipe, PipeError } from '@wins/pipe-transport';
import {
  messageOf,
  type HostCommand,
  type HostExit,
  type HostProcess,
  type PipeServerCheck,
  type ProcessHost,
  type TreeUsage,
} from '@wins/base';
import { ProcessError, type KeptProcess, type ProcessErrorCode } from '@wins/process-manager';
import { Backoff } from '@wins/time';
import { EventEmitter, once } from 'node:events';
import { Readable } from 'node:stream';
import type { KeeperRecord, KeptFigures, KeptRun } from '../run-folders.js';
import {
  ANOTHER_DAEMON,
  ENDING,
  KEEPER_PROTOCOL,
  keeperMessage,
  speakMessages,
  type DaemonMessage,
  type KeeperMessage,
  type MessageEnd,
} from './keeper-messages.js';

/** Exit to assume for a run whose keeper died: its pipes are gone, and its remaining processes are ended. */
const LOST: HostExit = { code: 137, signal: 'SIGKILL' };
const CODES: readonly ProcessErrorCode[] = [
  ...(['spawnFailed', 'invalidArgument', 'notFound', 'limitsUnavailable'] as const),
];

type Answer = Extract<KeeperMessage, { readonly id: number }>;
type RunMessage = Extract<KeeperMessage, { readonly mark: string }>;
type Request = Extract<DaemonMessage, { readonly id: number }>;
type WithoutId<T> = T extends unknown ? Omit<T, 'id'> : never;

export interface KeptRunListener {
  /** Called when there may be more output. */
  readonly written: () => void;
}

export class KeeperConnection {
  readonly record: KeeperRecord;
  readonly #host: ProcessHost;
  readonly #processes = new Map<string, ProcessOfKeeper>();
  readonly #waiting = new Map<number, [(answer: Answer) => void, (error: Error) => void]>();
  #end: MessageEnd<DaemonMessage> | undefined;
  #lastId = 0;
  #isClosed = false;
  #runs: readonly string[] = [];
  #starting = 0;
  #isLost = false;
  #distrust: string | undefined;
  readonly #events = new EventEmitter();
  #isEnding = false;
  #isRefused = false;
  /** Messages that arrived before this daemon knew their run. */
  readonly #early: RunMessage[] = [];

  private constructor(record: KeeperRecord, host: ProcessHost) {
    this.record = record;
    this.#host = host;
  }

  /**
   * Waits while the previous daemon is ending or the keeper is frozen. If the keeper dies meanwhile, or another process serves the keeper's
   * pipe, the connection reports the keeper's runs as lost.
   *
   * @param security - Checks that the recorded process serves the pipe. Default: none, because the socket is in a private folder.
   * @throws ProcessError `stateUnavailable` when the keeper refuses; the signal's reason when it aborts.
   */
  static async open(
    record: KeeperRecord,
    host: ProcessHost,
    signal: AbortSignal,
    security?: PipeServerCheck,
  ): Promise<KeeperConnection> {
    const again = new Backoff({ initialMs: 20, maxMs: 500 });
    for (;;) {
      const connection = new KeeperConnection(record, host);
      let error: unknown;
      const why = await connection
        .#greet(signal, security)
        .catch((cause: unknown) => messageOf((error = cause)));
      if (why === undefined) return connection;
      signal.throwIfAborted();
      if (connection.#isRefused && why !== ANOTHER_DAEMON && why !== ENDING) {
        const message = `cannot use the keeper ${record.keeper}: ${why}`;
        throw new ProcessError('stateUnavailable', message);
      }
      const isTrusted = !(error instanceof PipeError && error.code === 'securityUnavailable');
      if (!isTrusted || !host.isDaemonAlive(record.keeper)) {
        connection.#isLost = true;
        if (!isTrusted) connection.#distrust = why;
        return connection;
      }
      await again.wait(signal);
    }
  }

  get distrust(): string | undefined {
    return this.#distrust;
  }

  get isIdle(): boolean {
    return this.#processes.size === 0 && this.#starting === 0;
  }

  get isOpen(): boolean {
    return !this.#isClosed && !this.#isLost && !this.#isEnding;
  }

  /** Returns whether the keeper had the run `mark` when this daemon connected; always true for a dead keeper. */
  has(mark: string): boolean {
    return this.#isLost || this.#runs.includes(mark);
  }

  /** Returns undefined when this keeper is ending: another keeper must start the run. @throws ProcessError. */
  async start(
    command: HostCommand,
    run: Extract<DaemonMessage, { readonly kind: 'start' }>['run'],
    listener: KeptRunListener,
  ): Promise<KeptProcess | undefined> {
    if (!this.isOpen) return undefined;
    const { mayBreakAway = false, args, env } = command;
    const whole = { ...command, mayBreakAway, args: [...args], env: { ...env } };
    this.#starting += 1;
    try {
      const answer = await this.#ask({ kind: 'start', command: whole, run });
      if (answer.kind === 'ending') {
        this.#isEnding = true;
        return undefined;
      }
      if (answer.kind !== 'started') throw unexpected(answer);
      const { pid, startToken } = answer;
      const facts = { mark: command.mark, pid, startToken, startedAtMs: Date.now() };
      return this.#add(facts, listener);
    } finally {
      this.#starting -= 1;
    }
  }

  read(mark: string, offset: number): void {
    this.#end?.send({ kind: 'read', mark, offset });
  }

  adopt(facts: KeptRun, listener: KeptRunListener): KeptProcess {
    const { run, pid, startToken, startedAtMs } = facts;
    return this.#add({ mark: run.mark, pid, startToken, startedAtMs }, listener);
  }

  async look(mark: string): Promise<Extract<Answer, { readonly kind: 'looked' }> | undefined> {
    const answer = await this.#ask({ kind: 'look', mark }).catch(() => undefined);
    return answer?.kind === 'looked' ? answer : undefined;
  }

  async terminate(mark: string, mode: 'graceful' | 'force'): Promise<void> {
    await this.#ask({ kind: 'terminate', mark, mode }).catch(() => undefined);
  }

  /** Ends all runs with their grace period, and then the keeper. @throws the signal's reason if the signal aborts first. */
  async endAll(signal: AbortSignal): Promise<void> {
    this.#end?.send({ kind: 'end' });
    if (!this.#isLost) await once(this.#events, 'lost', { signal });
  }

  /** Disconnects; the keeper and its runs continue. */
  close(): void {
    this.#isClosed = true;
    this.#end?.close();
  }

  /** Performs the handshake; returns the reason of a refusal. @throws PipeError. */
  async #greet(
    signal: AbortSignal,
    security: PipeServerCheck | undefined,
  ): Promise<string | undefined> {
    const socket = await connectPipe(this.record.socket, { security });
    const giveUp = (): unknown => socket.destroy();
    if (signal.aborted) giveUp();
    else signal.addEventListener('abort', giveUp);
    const answer = new Promise<string | undefined>((resolve) => {
      const end = speakMessages<KeeperMessage, DaemonMessage>(
        socket,
        keeperMessage,
        (message) => {
          if (message.kind === 'refused') {
            this.#isRefused = true;
            resolve(message.why);
          } else if (message.kind === 'welcome') {
            this.#runs = message.runs;
            this.#end = end;
            resolve(undefined);
          } else this.#take(message);
        },
        () => {
          resolve('it hung up');
          this.#lost();
        },
      );
      end.send({ kind: 'hello', protocol: KEEPER_PROTOCOL, token: this.record.token });
    });
    return answer.finally(() => signal.removeEventListener('abort', giveUp));
  }

  #add(
    facts: { readonly mark: string } & Pick<KeptProcess, 'pid' | 'startToken' | 'startedAtMs'>,
    listener: KeptRunListener,
  ): KeptProcess {
    const { keeper } = this.record;
    const process = new ProcessOfKeeper({ ...facts, keeper }, this, this.#host, listener);
    if (this.#isLost) process.lose();
    else this.#processes.set(facts.mark, process);
    for (const message of this.#early.splice(0)) this.#take(message);
    return process;
  }

  #take(message: KeeperMessage): void {
    if ('id' in message) {
      const [resolve, reject] = this.#waiting.get(message.id) ?? [];
      this.#waiting.delete(message.id);
      if (message.kind !== 'failed') resolve?.(message);
      else reject?.(failure(message));
      return;
    }
    if (!('mark' in message)) return;
    const process = this.#processes.get(message.mark);
    if (process === undefined) {
      // One early message of each kind is enough for a run.
      const isKnown = this.#early.some(
        ({ kind, mark }) => kind === message.kind && mark === message.mark,
      );
      if (!isKnown) this.#early.push(message);
    } else if (message.kind === 'exited') process.exit(message.exit);
    else if (message.kind === 'written') process.listener.written();
    else {
      this.#processes.delete(message.mark);
      process.settle(message.figures);
    }
  }

  #ask(request: WithoutId<Request>): Promise<Answer> {
    const id = (this.#lastId += 1);
    return new Promise((resolve, reject) => {
      if (this.#isLost) reject(hungUp());
      else this.#waiting.set(id, [resolve, reject]);
      this.#end?.send({ ...request, id });
    });
  }

  #lost(): void {
    this.#isLost = true;
    this.#events.emit('lost');
    for (const [, reject] of this.#waiting.values()) reject(hungUp());
    this.#waiting.clear();
    if (this.#isClosed) return;
    for (const process of this.#processes.values()) process.lose();
    this.#processes.clear();
  }
}

/** The output of the run goes to a spool. The streams stay empty, and end when the spool is complete. */
class ProcessOfKeeper implements KeptProcess {
  readonly keeper: string;
  readonly pid: number;
  readonly startToken: string;
  readonly startedAtMs: number;
  readonly stdout = emptyStream();
  readonly stderr = emptyStream();
  readonly exited: Promise<HostExit>;
  readonly listener: KeptRunListener;
  readonly #mark: string;
  readonly #connection: KeeperConnection;
  readonly #host: ProcessHost;
  #resolveExited: (exit: HostExit) => void = () => undefined;
  #figures: KeptFigures | undefined;
  #state: 'kept' | 'settled' | 'lost' = 'kept';

  constructor(
    facts: Pick<KeptProcess, 'keeper' | 'pid' | 'startToken' | 'startedAtMs'> & {
      readonly mark: string;
    },
    connection: KeeperConnection,
    host: ProcessHost,
    listener: KeptRunListener,
  ) {
    this.keeper = facts.keeper;
    this.pid = facts.pid;
    this.startToken = facts.startToken;
    this.startedAtMs = facts.startedAtMs;
    this.#mark = facts.mark;
    this.#connection = connection;
    this.#host = host;
    this.listener = listener;
    this.exited = new Promise((resolve) => (this.#resolveExited = resolve));
  }

  async isGone(): Promise<boolean> {
    if (this.#state === 'settled') return true;
    if (this.#state === 'lost') return (await this.#leftovers())?.length === 0;
    return (await this.#connection.look(this.#mark))?.isGone ?? false;
  }

  async terminate(mode: 'graceful' | 'force'): Promise<void> {
    if (this.#state === 'kept') await this.#connection.terminate(this.#mark, mode);
    if (this.#state !== 'lost') return;
    for (const leftover of (await this.#leftovers()) ?? []) await leftover.terminate(mode);
  }

  async usage(): Promise<TreeUsage | undefined> {
    if (this.#state === 'kept')
      this.#figures = (await this.#connection.look(this.#mark))?.figures ?? this.#figures;
    return this.#figures?.usage;
  }

  get output(): KeptProcess['output'] {
    return this.#figures?.output;
  }

  close(): void {
    for (const output of [this.stdout, this.stderr]) output.destroy();
  }

  exit(exit: HostExit): void {
    this.#resolveExited(exit);
  }

  settle(figures: KeptFigures): void {
    this.#state = 'settled';
    this.#figures = figures;
    for (const output of [this.stdout, this.stderr]) output.push(null);
    this.listener.written();
  }

  /** Call when the keeper has died or disconnected. The run's remaining processes then count as leftovers. */
  lose(): void {
    this.#state = 'lost';
    for (const output of [this.stdout, this.stderr]) output.push(null);
    this.#resolveExited(LOST);
  }

  async #leftovers() {
    const remembered = [{ mark: this.#mark, pid: this.pid, startToken: this.startToken }];
    try {
      return await this.#host.findLeftovers({ executables: [], remembered });
    } catch {
      // Unknown; the caller asks again.
      return undefined;
    }
  }
}

function emptyStream(): HostProcess['stdout'] {
  return new Readable({ read: () => undefined });
}

function failure({ code, message }: Extract<Answer, { readonly kind: 'failed' }>): ProcessError {
  const known = CODES.find((each) => each === code);
  return new ProcessError(known ?? 'stateUnavailable', message);
}

function hungUp(): ProcessError {
  return new ProcessError('stateUnavailable', 'cannot start a run: its keeper has ended');
}

function unexpected({ kind }: Answer): ProcessError {
  return new ProcessError('unknown', `cannot start a run: its keeper answered ${kind}`);
}
