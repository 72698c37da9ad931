import { NetError, type HttpAnswer } from '@wins/net';
import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { AgentError, type AgentErrorCode } from '../agent-error.js';
import type { FollowOptions } from '../kubernetes/object-follower.js';
import type { ApiRequest } from '../kubernetes/api-connection.js';
import { route, type ApiUser } from './api-server/api-routes.js';
import { NodeTable } from './api-server/node-table.js';
import { SecretTable } from './api-server/secret-table.js';
import type { OpenWatch } from './api-server/serve-watch.js';
import type { SimulatedTime } from './simulated-time.js';

export type SimulatedVerb = 'get' | 'list' | 'watch';

export interface SimulatedRequest {
  readonly atMs: number;
  readonly client: number;
  readonly verb: SimulatedVerb;
}

/** Replaces the answer to a request that reached the server. */
export type SimulatedFault =
  | { readonly kind: 'reset' | 'endsAtOnce' | 'silent' }
  | { readonly kind: 'refused'; readonly status: number; readonly retryAfterS?: number }
  | { readonly kind: 'cutAfter'; readonly ms: number };

const BOOKMARK_MS = 60_000;
const CODES: Readonly<Record<number, AgentErrorCode>> = {
  401: 'unauthorized',
  403: 'forbidden',
  410: 'expired',
};
const EVERYTHING: ApiUser = { name: 'simulated' };

/** The double of the API server without a network, for many clients on simulated time. */
export class SimulatedApi {
  readonly secrets = new SecretTable();
  readonly nodes = new NodeTable();
  readonly requests: SimulatedRequest[] = [];
  /** Down: no request reaches the server. */
  isDown = false;
  watchList = true;
  faultOf: (request: SimulatedRequest) => SimulatedFault | undefined = () => undefined;
  readonly #time: SimulatedTime;
  readonly #open = new Set<SimulatedAnswer>();

  constructor(time: SimulatedTime) {
    this.#time = time;
  }

  /** Cuts all connections, as a server that ends does. */
  cut(): void {
    for (const answer of [...this.#open]) answer.cut();
  }

  connect(client: number): FollowOptions['connection'] {
    const open = (request: ApiRequest, signal: AbortSignal) =>
      this.#answer(client, request, signal);
    return {
      open,
      ask: async (request, signal) => {
        const answer = await open(request, signal);
        const parts: Buffer[] = [];
        for await (const part of answer.body({ maxBytes: Infinity })) parts.push(part);
        return JSON.parse(Buffer.concat(parts).toString()) as unknown;
      },
      failure: (error, what) =>
        error instanceof AgentError
          ? error
          : new AgentError('unreachable', `cannot ${what}: ${String(error)}`, { cause: error }),
      refusal: (what, status, _body, retryAfter) => {
        const retryAfterMs = retryAfter === undefined ? undefined : Number(retryAfter) * 1000;
        const facts = { status, retryAfterMs };
        return new AgentError(CODES[status] ?? 'refused', `cannot ${what}: ${status}`, facts);
      },
    };
  }

  async #answer(client: number, asked: ApiRequest, signal: AbortSignal): Promise<HttpAnswer> {
    await Promise.resolve();
    if (this.isDown)
      throw new NetError('unreachable', `cannot ${asked.what}: nothing listens there`);
    const { pathname, searchParams: query } = new URL(asked.path, 'http://simulated');
    const isWatch = query.get('watch') === 'true';
    const verb = isWatch ? 'watch' : /\/secrets\/./.test(pathname) ? 'get' : 'list';
    const request = { atMs: this.#time.nowMs, client, verb } as const;
    this.requests.push(request);
    const fault = this.faultOf(request);
    const { refusal } = this.connect(client);
    if (fault?.kind === 'reset') throw new NetError('interrupted', `cannot ${asked.what}: reset`);
    if (fault?.kind === 'refused')
      throw refusal(asked.what, fault.status, undefined, fault.retryAfterS?.toString());
    const answer = new SimulatedAnswer(signal, () => this.#open.delete(answer));
    this.#open.add(answer);
    if (fault?.kind === 'cutAfter') this.#time.startTimer(() => answer.cut(), fault.ms);
    if (fault?.kind === 'silent') return answer;
    const watches = new Set<OpenWatch>();
    const headers = {};
    route(
      { method: asked.method, path: pathname, query, headers, body: Buffer.alloc(0) },
      answer.response as unknown as ServerResponse,
      {
        table: this.secrets,
        nodes: this.nodes,
        watches,
        watchList: this.watchList,
        expiredAs: 'status',
        userOf: () => EVERYTHING,
      },
    );
    if (fault?.kind === 'endsAtOnce') answer.response.end();
    else if (isWatch) this.#keep(answer, watches, Number(query.get('timeoutSeconds')) * 1000);
    if (answer.status !== 200) throw refusal(asked.what, answer.status, undefined);
    return answer;
  }

  /** Sends bookmarks, and ends the watch at its time. */
  #keep(answer: SimulatedAnswer, watches: ReadonlySet<OpenWatch>, ms: number): void {
    const bookmark = (): void => {
      for (const watch of watches) watch.bookmark();
      timer = this.#time.startTimer(bookmark, BOOKMARK_MS);
    };
    let timer = this.#time.startTimer(bookmark, BOOKMARK_MS);
    const ending = this.#time.startTimer(() => answer.response.end(), ms);
    answer.response.on('close', () => {
      timer.close();
      ending.close();
    });
  }
}

/** The part of a `ServerResponse` that the double uses. */
class SimulatedResponse extends EventEmitter {
  status = 200;
  readonly parts: Buffer[] = [];
  isEnded = false;

  writeHead(status: number): this {
    this.status = status;
    return this;
  }

  flushHeaders(): void {
    this.emit('part');
  }

  write(part: string | Buffer): boolean {
    this.parts.push(Buffer.from(part as string));
    return this.emit('part');
  }

  end(part?: string | Buffer): void {
    if (part !== undefined) this.parts.push(Buffer.from(part as string));
    if (this.isEnded) return;
    this.isEnded = true;
    this.emit('part');
    this.emit('close');
  }
}

class SimulatedAnswer implements HttpAnswer {
  readonly url = new URL('http://simulated');
  readonly headers = {};
  readonly declaredBytes = undefined;
  readonly response = new SimulatedResponse();
  readonly #signal: AbortSignal;
  readonly #onClose: () => void;
  #cause: NetError | undefined;
  #wake: () => void = () => undefined;
  readonly #onAbort = (): void => this.end(new NetError('aborted', 'it was aborted'));

  constructor(signal: AbortSignal, onClose: () => void) {
    this.#signal = signal;
    this.#onClose = onClose;
    this.response.on('part', () => this.#wake());
    signal.addEventListener('abort', this.#onAbort);
  }

  get status(): number {
    return this.response.status;
  }

  cut(): void {
    this.end(new NetError('interrupted', 'the connection was reset'));
  }

  async *body(): AsyncGenerator<Buffer, void> {
    for (;;) {
      if (this.#cause !== undefined) throw this.#cause;
      const part = this.response.parts.shift();
      if (part !== undefined) yield part;
      else if (this.response.isEnded) return;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  async bytes(): Promise<Buffer> {
    const parts: Buffer[] = [];
    for await (const part of this.body()) parts.push(part);
    return Buffer.concat(parts);
  }

  end(cause: NetError): void {
    this.#cause ??= cause;
    this.#wake();
  }

  close(): void {
    this.#signal.removeEventListener('abort', this.#onAbort);
    this.#onClose();
    this.response.end();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}
