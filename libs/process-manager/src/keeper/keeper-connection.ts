// Longer than most files, because the connection and the runs that it delivers share the keeper's messages and its end.
import { errnoOf, messageOf, type HostCommand, type ProcessHost } from '@wins/base';
import { Backoff } from '@wins/time';
import { EventEmitter, once } from 'node:events';
import type { KeeperRecord, DetachedRecord } from '../supervision/run-record.js';
import { ProcessError, type ProcessErrorCode } from '../process-error.js';
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
import type { KeeperTransport } from './keeper-transport.js';
import type { Note } from './note.js';
import { KeptTree, type KeeperOfTree, type KeptOutput } from './kept-tree.js';

const CODES: readonly ProcessErrorCode[] = [
  'spawnFailed',
  'invalidArgument',
  'notFound',
  'limitsUnavailable',
];

type Answer = Extract<KeeperMessage, { readonly id: number }>;
type RunMessage = Extract<KeeperMessage, { readonly mark: string }>;
type Request = Extract<DaemonMessage, { readonly id: number }>;
type WithoutId<T> = T extends unknown ? Omit<T, 'id'> : never;

export interface ConnectionParts {
  readonly host: ProcessHost;
  /** Time between asking a run to end and killing it, in milliseconds. */
  readonly graceMs: number;
  readonly transport: KeeperTransport;
  /** Default: no notes. */
  readonly note?: Note | undefined;
}

export class KeeperConnection implements KeeperOfTree {
  readonly record: KeeperRecord;
  readonly #parts: ConnectionParts;
  readonly #trees = new Map<string, KeptTree>();
  readonly #waiting = new Map<number, [(answer: Answer) => void, (error: Error) => void]>();
  #end: MessageEnd<DaemonMessage> | undefined;
  #lastId = 0;
  #isClosed = false;
  #runs: readonly string[] = [];
  #starting = 0;
  #isLost = false;
  readonly #events = new EventEmitter();
  #isEnding = false;
  #isRefused = false;
  /** Messages that arrived before this daemon knew their run. */
  readonly #early: RunMessage[] = [];

  private constructor(record: KeeperRecord, parts: ConnectionParts) {
    this.record = record;
    this.#parts = parts;
  }

  /**
   * Waits while the previous daemon is ending or the keeper is frozen. If the keeper dies meanwhile, or another process serves the keeper's
   * pipe, the connection reports the keeper's runs as lost.
   *
   * @throws ProcessError `stateUnavailable` when the keeper refuses; the signal's reason when it aborts.
   */
  static async open(
    record: KeeperRecord,
    parts: ConnectionParts,
    signal: AbortSignal,
  ): Promise<KeeperConnection> {
    const again = new Backoff({ initialMs: 20, maxMs: 500 });
    for (;;) {
      const connection = new KeeperConnection(record, parts);
      let error: unknown;
      const why = await connection
        .#greet(signal)
        .catch((cause: unknown) => messageOf((error = cause)));
      if (why === undefined) return connection;
      signal.throwIfAborted();
      if (connection.#isRefused && why !== ANOTHER_DAEMON && why !== ENDING) {
        const message = `cannot use the keeper ${record.keeper}: ${why}`;
        throw new ProcessError('stateUnavailable', message);
      }
      const isTrusted = errnoOf(error) !== 'securityUnavailable';
      if (!isTrusted || !parts.host.isDaemonAlive(record.keeper)) {
        connection.#isLost = true;
        const { keeper } = record;
        if (!isTrusted)
          parts.note?.('error', 'another process serves the pipe of a keeper of runs', {
            keeper,
            problem: why,
          });
        return connection;
      }
      await again.wait({ signal });
    }
  }

  get isIdle(): boolean {
    return this.#trees.size === 0 && this.#starting === 0;
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
    output: KeptOutput,
  ): Promise<KeptTree | undefined> {
    if (!this.isOpen) return undefined;
    const { mayBreakAway = false, args, env } = command;
    const whole = { ...command, mayBreakAway, args: [...args], env: { ...env } };
    this.#starting += 1;
    try {
      const { graceMs } = this.#parts;
      const answer = await this.#ask({ kind: 'start', command: whole, run, graceMs });
      if (answer.kind === 'ending') {
        this.#isEnding = true;
        return undefined;
      }
      if (answer.kind !== 'started') throw unexpected(answer);
      return this.#add({ ...answer, mark: command.mark }, output);
    } finally {
      this.#starting -= 1;
    }
  }

  read(mark: string, offset: number): void {
    this.#end?.send({ kind: 'read', mark, offset });
  }

  adopt(facts: DetachedRecord, output: KeptOutput): KeptTree {
    return this.#add({ ...facts, mark: facts.run.mark }, output);
  }

  async measure(mark: string): ReturnType<KeeperOfTree['measure']> {
    const answer = await this.#ask({ kind: 'measure', mark }).catch(() => undefined);
    return answer?.kind === 'measured' ? answer.figures : undefined;
  }

  end(message: Parameters<KeeperOfTree['end']>[0]): void {
    this.#end?.send({ kind: 'end', ...message });
  }

  /** Ends all runs with their grace period, and then the keeper. @throws the signal's reason if the signal aborts first. */
  async endAll(signal: AbortSignal): Promise<void> {
    this.#end?.send({ kind: 'endAll' });
    if (!this.#isLost) await once(this.#events, 'lost', { signal });
  }

  /** Disconnects; the keeper and its runs continue. */
  close(): void {
    this.#isClosed = true;
    this.#end?.close();
  }

  /** Performs the handshake; returns the reason of a refusal. Throws the errors of the transport. */
  async #greet(signal: AbortSignal): Promise<string | undefined> {
    const { socket: address, keeper } = this.record;
    const socket = await this.#parts.transport.connect(address, keeper);
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
    {
      mark,
      pid,
      startToken,
      startedAtMs,
    }: Pick<KeptTree, 'mark' | 'pid' | 'startToken' | 'startedAtMs'>,
    output: KeptOutput,
  ): KeptTree {
    const facts = { mark, pid, startToken, startedAtMs, supervisor: this.record.keeper };
    const tree = new KeptTree(facts, {
      keeper: this,
      ...this.#parts,
      output,
    });
    if (this.#isLost) tree.lose();
    else this.#trees.set(mark, tree);
    for (const message of this.#early.splice(0)) this.#take(message);
    return tree;
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
    const tree = this.#trees.get(message.mark);
    if (tree === undefined) {
      // The last early message of each kind is enough for a run.
      const index = this.#early.findIndex(
        ({ kind, mark }) => kind === message.kind && mark === message.mark,
      );
      this.#early.splice(index < 0 ? this.#early.length : index, 1, message);
    } else if (message.kind === 'moved') tree.moved(message.state);
    else if (message.kind === 'written') tree.output.written();
    else {
      this.#trees.delete(message.mark);
      tree.finish(message);
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
    for (const tree of this.#trees.values()) tree.lose();
    this.#trees.clear();
  }
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
