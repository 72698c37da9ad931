import { NetError, type HttpAnswer } from '@wins/net';
import { AgentError } from '../agent-error.js';
import type { ApiConnection } from './api-connection.js';
import { objectOf, type SecretName } from './secret-object.js';

export interface QuietWatchOptions {
  readonly connection: ApiConnection;
  readonly name: SecretName;
  readonly answer: HttpAnswer;
  /** `uid/resourceVersion` of the last report; `none` for no Secret. */
  readonly reported: () => string | undefined;
  /** Silence after which a second request checks the watch. */
  readonly quietMs: number;
  readonly limitMs: number;
}

const WHAT = 'check the watch';
/** Time for an event in transit to arrive. */
const GRACE_MS = 2000;
/** Requests only metadata. A server without support for that sends the whole Secret. */
const METADATA_ALONE =
  'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1, application/json';

/**
 * Checks a silent watch: a dropped connection looks like an idle one, and bookmarks come at best once a minute. HTTP/1.1 has
 * no PING, and TCP keep-alive ends at the nearest proxy, so this class requests the Secret's version on another connection.
 * Ends the watch if the watch has not reported that version, if the server does not answer, or if the token has expired.
 */
export class QuietWatch {
  readonly #options: QuietWatchOptions;
  readonly #closed = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #heard = 0;
  /** Why this check ended the watch. */
  problem: AgentError | undefined;

  constructor(options: QuietWatchOptions) {
    this.#options = options;
    this.#wait(options.quietMs);
  }

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

  /** @param heardBefore - `#heard` at the previous check. Undefined unless that check found an unreported change. */
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
    this.problem = problem;
    this.#options.answer.end(new NetError('timedOut', problem.message, { cause: problem }));
  }

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
      // Any refusal except `unauthorized` proves that the server still works.
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
    // An older version is no fault of the watch: an API server may lag behind others.
    return BigInt(String(resourceVersion)) > BigInt(version);
  }
}

const NUMBER = /^\d{1,20}$/;
