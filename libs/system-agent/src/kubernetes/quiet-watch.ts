import { NetError, type HttpAnswer } from '@wins/net';
import { AgentError } from '../agent-error.js';
import type { ApiConnection } from './api-connection.js';
import { objectOf, type SecretName } from './secret-object.js';

export interface QuietWatchOptions {
  readonly connection: ApiConnection;
  readonly name: SecretName;
  /** The answer of the watch, which is ended when it does not tell what there is. */
  readonly answer: HttpAnswer;
  /** `uid/resourceVersion` of what the watch told last, `none` for no Secret. */
  readonly reported: () => string | undefined;
  /** After so long without a byte the API server is asked beside the watch. */
  readonly quietMs: number;
  /** Within which it answers. */
  readonly limitMs: number;
}

const WHAT = 'look after the watch';
/** An event that is on its way arrives within this. */
const GRACE_MS = 2000;
/** All that is wanted is the version; a server that does not know the form sends the whole Secret. */
const METADATA_ALONE =
  'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1, application/json';

/**
 * Looks after a watch on which nothing arrives: a connection that something between the two has forgotten looks like one on which
 * nothing happens, and bookmarks, one a minute at best, tell too late. HTTP/1.1 has no PING, and a keep-alive of TCP ends at the nearest
 * proxy; so it requests the version of the Secret on another connection. A watch that has not told it, a server that does not
 * answer, and a token that has ended end the watch.
 */
export class QuietWatch {
  readonly #options: QuietWatchOptions;
  readonly #closed = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  /** How often something arrived. */
  #heard = 0;
  #problem: AgentError | undefined;

  constructor(options: QuietWatchOptions) {
    this.#options = options;
    this.#wait(options.quietMs);
  }

  /** Why it ended the watch. */
  get problem(): AgentError | undefined {
    return this.#problem;
  }

  /** Something arrived on the watch. */
  heard(): void {
    this.#heard += 1;
    if (this.#timer !== undefined) this.#wait(this.#options.quietMs);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#closed.abort();
  }

  #wait(ms: number, heardBefore?: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#look(heardBefore);
    }, ms);
  }

  /** @param heardBefore - The watch was behind already when so much had arrived on it. */
  async #look(heardBefore: number | undefined): Promise<void> {
    const { quietMs } = this.#options;
    const heard = this.#heard;
    const found = await this.#ask();
    if (this.#closed.signal.aborted) return;
    if (found instanceof AgentError) this.#end(found);
    else if (!found || this.#heard !== heard) this.#wait(quietMs);
    else if (heardBefore !== heard) this.#wait(Math.min(GRACE_MS, quietMs), heard);
    else {
      const message =
        'cannot watch the Secret: it changed without an event of the watch, so the connection is broken';
      this.#end(new AgentError('unreachable', message));
    }
  }

  #end(problem: AgentError): void {
    this.#problem = problem;
    this.#options.answer.end(new NetError('timedOut', problem.message, { cause: problem }));
  }

  /** Whether the watch is behind, or why it cannot go on. */
  async #ask(): Promise<boolean | AgentError> {
    const { connection, name, limitMs } = this.#options;
    const path = `/api/v1/namespaces/${name.namespace}/secrets/${name.secretName}`;
    const late = AbortSignal.timeout(limitMs);
    const signal = AbortSignal.any([this.#closed.signal, late]);
    try {
      const asked = { method: 'GET', path, accept: METADATA_ALONE, what: WHAT } as const;
      return this.#isBehind(await connection.ask(asked, signal));
    } catch (error) {
      const failure = connection.failure(error, WHAT, this.#closed.signal);
      if (failure.code === 'notFound') return this.#options.reported() !== 'none';
      // Any other refusal is an answer of a server that is there.
      if (failure.refusal.status !== undefined && failure.code !== 'unauthorized') return false;
      if (!late.aborted) return failure;
      const message = `cannot ${WHAT}: no answer within ${limitMs} ms`;
      return new AgentError('unreachable', message, { cause: error });
    }
  }

  #isBehind(body: unknown): boolean {
    const { uid, resourceVersion } = objectOf(objectOf(body)['metadata']);
    const [told = '', version = ''] = this.#options.reported()?.split('/') ?? [];
    if (told !== uid || !NUMBER.test(version) || !NUMBER.test(String(resourceVersion)))
      return `${told}/${version}` !== `${String(uid)}/${String(resourceVersion)}`;
    // One of several servers may be behind itself.
    return BigInt(String(resourceVersion)) > BigInt(version);
  }
}

const NUMBER = /^\d{1,20}$/;
