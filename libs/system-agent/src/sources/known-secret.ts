import { AgentError } from '../agent-error.js';
import { isOlderVersion } from '../kubernetes/object-follower.js';
import type { Clock, Secret, SecretStore } from '../ports.js';

/** Time for an answer to arrive once the watch has shown its result. */
const GRACE_MS = 1000;

type Listener = (told: Secret | undefined) => void;
type Verdict<T> = { readonly result: T } | { readonly problem: AgentError } | undefined;

/**
 * The Secret as the watch and the answers of the API server show it. A request ends when its answer arrives, or when
 * the watch has shown its result, because an answer can be lost.
 */
export class KnownSecret implements Pick<SecretStore, 'read' | 'write'> {
  readonly #secrets: SecretStore;
  readonly #clock: Clock;
  readonly #requests = new Set<Listener>();
  /** Number of reports of the watch. */
  #reports = 0;
  /** Null: no Secret. Undefined: no report yet. */
  current: Secret | null | undefined;
  /** True if `current` may be outdated. `read` then asks the API server. */
  isDoubted = false;

  constructor(secrets: SecretStore, clock: Clock) {
    this.#secrets = secrets;
    this.#clock = clock;
  }

  /** Handles a report of the watch. Returns false if the version is already known. */
  tell(told: Secret | undefined): boolean {
    const known = this.current;
    if (told && known && isSame(told, known)) return false;
    this.#reports += 1;
    // The watch may lag behind an answer, or the cluster was restored from a backup. A read decides.
    this.isDoubted = told !== undefined && Boolean(known && isOlder(told, known));
    if (this.isDoubted) return true;
    this.current = told ?? null;
    for (const report of this.#requests) report(told);
    return true;
  }

  /**
   * Reads the Secret and adopts it, even if its version is older than the known one: the answer to a read without a version shows the
   * latest state. @throws as `SecretStore.read`.
   */
  async read({ signal }: { readonly signal: AbortSignal }): Promise<Secret | undefined> {
    const ask = (until: AbortSignal) => this.#secrets.read({ signal: until });
    return await this.#ask(ask, (told) => ({ result: told }), signal);
  }

  /** Writes the Secret and adopts it. @throws as `SecretStore.write`. */
  async write(
    secret: Secret,
    changes: Readonly<Record<string, Buffer>>,
    { signal }: { readonly signal: AbortSignal },
  ): Promise<Secret> {
    const judge = (told: Secret | undefined): Verdict<Secret> => {
      const isOurs = told?.uid === secret.uid;
      const isWritten = Object.entries(changes).every(([key, value]) =>
        told?.data[key]?.equals(value),
      );
      if (told && isOurs && isWritten) return { result: told };
      // The server accepts a write only for its current version, and this is another one.
      if (!told || !isOurs || isOlder(secret, told)) return { problem: overtaken() };
      return undefined;
    };
    const ask = (until: AbortSignal) => this.#secrets.write(secret, changes, { signal: until });
    return await this.#ask(ask, judge, signal);
  }

  async #ask<T extends Secret | undefined>(
    ask: (until: AbortSignal) => Promise<T>,
    judge: (told: Secret | undefined) => Verdict<T>,
    signal: AbortSignal,
  ): Promise<T> {
    const reports = this.#reports;
    const ended = new AbortController();
    const until = AbortSignal.any([signal, ended.signal]);
    let listener: Listener = () => undefined;
    const shown = new Promise<T>((resolve, reject) => {
      listener = (told) => {
        const verdict = judge(told);
        if (verdict === undefined) return;
        const decide = () =>
          'result' in verdict ? resolve(verdict.result) : reject(verdict.problem);
        this.#clock.wait(GRACE_MS, { signal: until }).then(decide, () => undefined);
      };
    });
    this.#requests.add(listener);
    try {
      const answered = ask(until).then((answer) => this.#adopt(answer, reports) as T);
      return await Promise.race([answered, shown]);
    } finally {
      this.#requests.delete(listener);
      ended.abort();
    }
  }

  /** @param reports - `#reports` when the request was sent. */
  #adopt(answer: Secret | undefined, reports: number): Secret | undefined {
    const known = this.current;
    const isLatest = reports === this.#reports;
    if (isLatest) this.isDoubted = false;
    if (answer && known && isSame(answer, known)) return known;
    if (isLatest) this.current = answer ?? null;
    else if (answer && known && isOlder(known, answer)) this.current = answer;
    // Meanwhile the watch has reported a newer version, or something that has no order with the answer, such as a deletion.
    else this.isDoubted ||= !answer || !known || answer.uid !== known.uid;
    return answer;
  }
}

function overtaken(): AgentError {
  return new AgentError('conflict', 'cannot write the Secret: the watch shows another version');
}

function isSame(a: Secret, b: Secret): boolean {
  return a.uid === b.uid && a.resourceVersion === b.resourceVersion;
}

function isOlder(secret: Secret, known: Secret): boolean {
  return secret.uid === known.uid && isOlderVersion(secret.resourceVersion, known.resourceVersion);
}
