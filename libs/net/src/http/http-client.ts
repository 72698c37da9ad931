import type { Abortable } from 'node:events';
import { formatDuration } from '@wins/base';
import { isNetError, NetError } from '../net-error.js';
import { ConnectionPool } from './connection-pool.js';
import { quoteForeign, withoutSecrets } from './foreign-text.js';
import { ReceivedAnswer, type BodyOptions, type HttpAnswer } from './http-answer.js';
import { completeSettings, type CompleteSettings, type HttpSettings } from './http-settings.js';
import { judgeRedirect, securely, withinOrigin } from './judge-redirect.js';
import { isTransientStatus, judgeRetry, retryAfterMs } from './judge-retry.js';
import { RequestLifetime } from './request-lifetime.js';
import { isRepeatable, secretsOf, sendRequest, type HttpRequest } from './send-request.js';

/** Limits of {@link HttpClient.retry}. */
export interface RetryOptions {
  /** The operation, worded to follow "cannot" in a message. */
  readonly what: string;
  /** Time limit for all attempts and waits together. 0: one attempt, with only the client's own limits. */
  readonly timeoutMs: number;
  /** Default: unlimited. */
  readonly maxTries?: number | undefined;
  /** Returns whether to retry a transient failure. Default: always. */
  readonly mayRepeat?: ((error: NetError<string>) => boolean) | undefined;
}

/** Bounds of an answer's body, and the operation for messages. */
export interface Asked extends BodyOptions {
  /** The operation, worded to follow "cannot" in a message. */
  readonly what: string;
}

const CUT = new Set(['interrupted', 'tlsFailed']);
const TOLD_BYTES = 512;

/**
 * HTTP/1.1 client, with or without TLS. The creator closes it. Each step of a request (name resolution, connection, proxy,
 * TLS, answer) has its own time limit and {@link NetError} code.
 */
export class HttpClient implements Disposable {
  readonly settings: CompleteSettings;
  readonly #pool: ConnectionPool;

  /** @param other - Client to share connections with. */
  constructor(settings: HttpSettings = {}, other?: HttpClient) {
    this.settings = completeSettings(settings);
    const { keptConnections } = this.settings;
    this.#pool = other === undefined ? new ConnectionPool(keptConnections) : other.#pool;
  }

  /**
   * Resolves once the headers of an answer arrive. With `tries` 1, any status resolves. With more tries, a transient status
   * is an error. After such a status or a broken connection, a repeatable request is retried. @throws NetError
   */
  async open(request: HttpRequest, what: string, { signal }: Abortable = {}): Promise<HttpAnswer> {
    const { tries: maxTries, limits } = this.settings;
    const signals = [signal, this.settings.signal].filter((one) => one !== undefined);
    const own = signal === undefined ? this : this.#with({ signal: AbortSignal.any(signals) });
    if (maxTries === 1) return await own.#openOnce(request, what);
    const timeoutMs = limits.totalMs;
    // Do not retry an unreachable server: the caller may have another one.
    const mayRepeat = ({ code, status }: NetError<string>) =>
      isRepeatable(request) && (status !== undefined || CUT.has(code));
    return await own.retry({ what, timeoutMs, maxTries, mayRepeat }, async (each) => {
      const answer = await each.#openOnce(request, what);
      if (isTransientStatus(answer.status)) throw await each.#badStatus(request, answer, what);
      return answer;
    });
  }

  /** Requires status 200. Closes the answer when `use` ends. @throws NetError */
  async ask<T>(
    request: HttpRequest,
    { what, ...body }: Asked,
    use: (answer: HttpAnswer, parts: AsyncIterable<Buffer>) => Promise<T>,
  ): Promise<T> {
    const answer = await this.open(request, what);
    try {
      if (answer.status !== 200) throw await this.#badStatus(request, answer, what);
      return await use(answer, answer.body(body));
    } finally {
      answer.close();
    }
  }

  /** Sends the request and reads the whole body. @throws NetError */
  async askForBytes(
    request: HttpRequest,
    asked: Asked,
  ): Promise<{ readonly answer: HttpAnswer; readonly body: Buffer }> {
    return await this.ask(request, asked, async (answer) => {
      return { answer, body: await answer.bytes(asked) };
    });
  }

  /**
   * Repeats `attempt` until it succeeds. Throws the last failure if it is permanent or a limit is reached. The client
   * passed to `attempt` is limited to the remaining time.
   */
  async retry<T>(
    { what, timeoutMs, maxTries, mayRepeat = () => true }: RetryOptions,
    attempt: (client: HttpClient) => Promise<T>,
  ): Promise<T> {
    const { clock, random, signal, onWarning, limits, secrets } = this.settings;
    const startMs = clock.monotonicMs();
    for (let tries = 1; ; tries += 1) {
      const leftMs = Math.ceil(timeoutMs - (clock.monotonicMs() - startMs));
      const totalMs = timeoutMs === 0 ? limits.totalMs : Math.min(limits.totalMs, leftMs);
      try {
        return await attempt(this.#with({ limits: { ...limits, totalMs } }));
      } catch (thrown) {
        if (!isNetError(thrown)) throw thrown;
        const error = masked(thrown, secrets);
        const elapsedMs = clock.monotonicMs() - startMs;
        const waitMs = judgeRetry({
          isTransient: error.isTransient && mayRepeat(error),
          retryAfterMs: error.retryAfterMs,
          tries,
          elapsedMs,
          timeoutMs,
          random: random(),
          ...(maxTries && { maxTries }),
        });
        if (waitMs === undefined) {
          const times = `tried ${tries} times in ${formatDuration(elapsedMs)}`;
          throw tries === 1
            ? error
            : error.reworded(`${error.message}; ${times}`, { cause: error });
        }
        onWarning(`${error.message}; trying again in ${formatDuration(waitMs)}`);
        await clock.wait(waitMs, { signal }).catch((reason: unknown) => {
          if (signal?.aborted !== true) throw reason;
          throw new NetError('aborted', `cannot ${what}: it was aborted`, { cause: reason });
        });
      }
    }
  }

  /** Closes idle connections only. */
  endKept(): void {
    this.#pool.endKept();
  }

  close(): void {
    this.#pool.destroy();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #with(changes: Partial<CompleteSettings>): HttpClient {
    const { signal, ...settings } = { ...this.settings, ...changes };
    return new HttpClient({ ...settings, ...(signal && { signal }) }, this);
  }

  async #openOnce(request: HttpRequest, what: string): Promise<HttpAnswer> {
    const { limits, signal } = this.settings;
    const facts = { what, secrets: secretsOf(request, this.settings) };
    const lifetime = new RequestLifetime(facts, limits.totalMs, signal);
    try {
      return await this.#followed(request, lifetime);
    } catch (error) {
      lifetime.close();
      throw error;
    }
  }

  async #followed(request: HttpRequest, lifetime: RequestLifetime): Promise<HttpAnswer> {
    const { maxRedirects, idleMs } = this.settings.limits;
    const { what, secrets } = lifetime.facts;
    const { authorization, trust } = request;
    const isBound =
      authorization !== undefined || ('roots' in trust && trust.roots === 'anyCertificate');
    const { redirects: rule = isBound ? withinOrigin : securely } = request;
    let { url } = request;
    for (let count = 0; ; count += 1) {
      const parts = { pool: this.#pool, lifetime };
      const response = await sendRequest(request, url, this.settings, parts);
      const { statusCode: status = 0, headers } = response;
      const verdict =
        rule === 'none'
          ? undefined
          : judgeRedirect({
              from: url,
              status,
              location: headers.location,
              count,
              maxRedirects,
              rule,
              secrets,
            });
      if (verdict === undefined) return new ReceivedAnswer({ url, response, lifetime, idleMs });
      response.destroy();
      if ('to' in verdict) url = verdict.to;
      else {
        const message = `cannot ${what}: found ${verdict.found}; wanted ${verdict.wanted}`;
        throw new NetError('redirectRefused', message);
      }
    }
  }

  async #badStatus(request: HttpRequest, answer: HttpAnswer, what: string): Promise<NetError> {
    const { status, headers } = answer;
    // Quote only a short and complete text, because masking would miss a truncated secret.
    const bytes = await answer.bytes({ maxBytes: TOLD_BYTES }).catch(() => Buffer.alloc(0));
    answer.close();
    const said = bytes.toString('utf8').trim();
    const secrets = secretsOf(request, this.settings);
    const quoted = said === '' ? '' : ` with ${quoteForeign(said, secrets)}`;
    const message = `cannot ${what}: found status ${status}${quoted}; wanted 200`;
    return new NetError('badStatus', message, {
      status,
      isTransient: isTransientStatus(status),
      retryAfterMs: retryAfterMs(headers['retry-after'], Date.now()),
    });
  }
}

function masked(error: NetError<string>, secrets: readonly string[]): NetError<string> {
  const cause = isNetError(error.cause) ? masked(error.cause, secrets) : error.cause;
  const message = withoutSecrets(error.message, secrets);
  if (message === error.message && cause === error.cause) return error;
  return error.reworded(message, { cause });
}
