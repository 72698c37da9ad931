import { backoffMs } from '@wins/time';
import { NetError, type HttpAnswer } from '@wins/net';
import { AgentError } from '../agent-error.js';
import type { Secret, WatchState } from '../ports.js';
import type { ApiConnection, SecretStoreOptions } from './api-connection.js';
import { QuietWatch } from './quiet-watch.js';
import { readJsonLines } from './response-body.js';
import { objectOf, readSecret, unusable, type SecretName } from './secret-object.js';

type Settings = 'clock' | 'random' | 'answerMs' | 'quietMs' | 'silenceMs';

export interface WatchOptions extends Required<Pick<SecretStoreOptions, Settings>> {
  readonly connection: ApiConnection;
  readonly name: SecretName;
  readonly onContact: () => void;
  readonly onSecret: (secret: Secret | undefined) => void;
  readonly onState: (state: WatchState) => void;
  readonly signal: AbortSignal;
}

const WHAT = 'watch the Secret';
const ASIDE_MS = 10_000;
/** No jitter here, because `run` lengthens each delay at random, like client-go, to at most twice its length. */
const BACKOFF = { initialMs: 800, maxMs: 30_000, jitter: 0 };
/** A shorter watch counts as a failure. Otherwise the client would not pause between watches that the server ends at once. */
const SHORT_WATCH_MS = 1000;
const LONG_WATCH_MS = 10_000;

/** Works like client-go's reflector. */
export class SecretWatch {
  readonly #options: WatchOptions;
  /** Version from which to continue. Undefined: read the Secret anew. */
  #version: string | undefined;
  /**
   * True: reads the Secret anew by a list request. False: reads it anew by a watch with initial events. A failed read
   * toggles the value, except that `unauthorized` and `forbidden` set it to false.
   */
  #lists = false;
  /** `none` for no Secret; undefined before the first report. */
  #reported: string | undefined;
  #isConnected = false;
  #connectedAt = 0;
  #failures = 0;
  /** Allows one immediate re-read; the next needs a watch or a delay before it. */
  #mayReread = true;

  constructor(options: WatchOptions) {
    this.#options = options;
  }

  async run(): Promise<void> {
    const { signal, clock, random, onState } = this.#options;
    while (!isAborted(signal)) {
      const error = await this.#connect();
      if (isAborted(signal)) return;
      if (error === undefined) continue;
      this.#isConnected = false;
      const backOffMs = Math.round(backoffMs(BACKOFF, this.#failures) * (1 + random()));
      const waitMs = Math.max(backOffMs, error.refusal.retryAfterMs ?? 0);
      const retryAt = new Date(clock.now().getTime() + waitMs);
      onState({ kind: 'waiting', error, retryAt });
      await clock.wait(waitMs, signal).catch((reason: unknown) => {
        if (!isAborted(signal)) throw reason;
      });
      this.#mayReread = true;
    }
  }

  /** Returns undefined if the next connection may start at once. */
  async #connect(): Promise<AgentError | undefined> {
    const { connection, signal } = this.#options;
    this.#connectedAt = 0;
    try {
      if (this.#version === undefined && this.#lists) await this.#list();
      await this.#follow(await connection.open(this.#request(), signal));
      return undefined;
    } catch (error) {
      return this.#failed(connection.failure(error, WHAT, signal));
    }
  }

  /** Undefined: retry at once. Otherwise: retry after a delay. */
  #failed(error: AgentError): AgentError | undefined {
    const { code, refusal } = error;
    const wasRead = this.#version !== undefined;
    // After a refusal, read anew. After a lost connection, continue at the known version.
    if (code !== 'unreachable') this.#version = undefined;
    if (!wasRead) {
      const isOfAccount = code === 'unauthorized' || code === 'forbidden';
      this.#lists = !this.#lists && !isOfAccount;
      const isAnswered = code !== 'unreachable' || this.#connectedAt !== 0;
      if (this.#lists && isAnswered && refusal.retryAfterMs === undefined) return undefined;
    } else if (code === 'expired' && this.#mayReread) {
      // The server lost the history, for instance after an outage.
      this.#mayReread = false;
      return undefined;
    }
    const isLong = this.#connectedAt !== 0 && this.#livedMs() >= LONG_WATCH_MS;
    this.#failures = isLong ? 1 : this.#failures + 1;
    return error;
  }

  #livedMs(): number {
    return this.#options.clock.now().getTime() - this.#connectedAt;
  }

  async #list(): Promise<void> {
    const { connection, name, signal } = this.#options;
    const query = new URLSearchParams({ fieldSelector: `metadata.name=${name.secretName}` });
    const path = `${collection(name)}?${query.toString()}`;
    const answer = await connection.ask({ method: 'GET', path, what: WHAT }, signal);
    const { kind, metadata, items } = objectOf(answer);
    if (kind !== 'SecretList') throw unusable('found no SecretList');
    const [item] = Array.isArray(items) ? (items as unknown[]) : [];
    // Items of a list have no kind.
    const object = item && { kind: 'Secret', apiVersion: 'v1', ...objectOf(item) };
    this.#report(object === undefined ? undefined : readSecret(object, name));
    this.#version = versionOf(objectOf(metadata));
  }

  #request() {
    const { name, random } = this.#options;
    const query = new URLSearchParams({
      allowWatchBookmarks: 'true',
      fieldSelector: `metadata.name=${name.secretName}`,
      ...(this.#version === undefined
        ? { resourceVersionMatch: 'NotOlderThan', sendInitialEvents: 'true' }
        : { resourceVersion: this.#version }),
      // Random, as in the Go agent, so that nodes do not reconnect all at once.
      timeoutSeconds: String(300 + Math.floor(random() * 300)),
      watch: 'true',
    });
    return { method: 'GET' as const, path: `${collection(name)}?${query.toString()}`, what: WHAT };
  }

  async #follow(answer: HttpAnswer): Promise<void> {
    const { clock, connection, name, answerMs, silenceMs, quietMs, onContact } = this.#options;
    this.#connectedAt = clock.now().getTime();
    const endAfter = (ms: number): NodeJS.Timeout => {
      const silent = new NetError('timedOut', `cannot ${WHAT}: nothing arrived for ${ms} ms`);
      return setTimeout(() => answer.end(silent), ms);
    };
    let timer = endAfter(this.#version === undefined ? answerMs : silenceMs);
    if (this.#version !== undefined) this.#connected();
    const quiet = new QuietWatch({
      ...{ connection, name, answer, quietMs, limitMs: Math.min(answerMs, ASIDE_MS) },
      reported: () => this.#reported,
    });
    let hasSecret = false;
    const onBytes = (): void => {
      onContact();
      quiet.heard();
      // A first read must finish within one time-out, however steadily its data arrives.
      if (this.#version !== undefined) timer.refresh();
    };
    try {
      for await (const event of readJsonLines(answer.body({ maxBytes: Infinity }), onBytes)) {
        const { type, object } = objectOf(event);
        if (type === 'ERROR') {
          const status = objectOf(object);
          const code = typeof status['code'] === 'number' ? status['code'] : 500;
          throw connection.refusal(WHAT, code, status);
        }
        if (type === 'BOOKMARK') {
          const metadata = objectOf(objectOf(object)['metadata']);
          if (this.#version === undefined) {
            if (!endsInitialEvents(metadata)) continue;
            if (!hasSecret) this.#report(undefined);
            clearTimeout(timer);
            timer = endAfter(silenceMs);
          }
          this.#version = versionOf(metadata);
          this.#connected();
        } else if (type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED') {
          const secret = readSecret(object, this.#options.name);
          hasSecret = true;
          this.#report(type === 'DELETED' ? undefined : secret);
          if (this.#version !== undefined) this.#version = secret.resourceVersion;
          this.#connected();
        }
      }
    } catch (error) {
      throw quiet.problem ?? error;
    } finally {
      quiet.close();
      clearTimeout(timer);
      answer.close();
    }
    if (this.#version === undefined || this.#livedMs() < SHORT_WATCH_MS)
      throw new AgentError('unreachable', `cannot ${WHAT}: the API server ended it at once`);
    this.#failures = 0;
    this.#mayReread = true;
  }

  #connected(): void {
    if (this.#isConnected) return;
    this.#isConnected = true;
    this.#options.onState({ kind: 'connected' });
  }

  /** Skips a version already reported, because each connection begins with the current Secret. */
  #report(secret: Secret | undefined): void {
    const reported = secret === undefined ? 'none' : `${secret.uid}/${secret.resourceVersion}`;
    if (reported === this.#reported) return;
    this.#reported = reported;
    this.#options.onSecret(secret);
  }
}

const collection = ({ namespace }: SecretName): string => `/api/v1/namespaces/${namespace}/secrets`;

function endsInitialEvents({ annotations }: Readonly<Record<string, unknown>>): boolean {
  return annotations !== undefined && objectOf(annotations)['k8s.io/initial-events-end'] === 'true';
}

function versionOf({ resourceVersion }: Readonly<Record<string, unknown>>): string {
  if (typeof resourceVersion === 'string' && resourceVersion !== '') return resourceVersion;
  throw unusable('found no resourceVersion');
}

// This is a function, because the compiler would assume that the property stays the same across an await.
const isAborted = (signal: AbortSignal): boolean => signal.aborted;
