import type { Clock, Secret, SecretStore } from '../ports.js';

/** The Secret as the watch or an answer said last, whichever is newer. */
export class KnownSecret {
  readonly #secrets: SecretStore;
  readonly #clock: Clock;
  #current: Secret | null | undefined;
  #isDoubted = false;
  #lastContactAt: Date | undefined;

  constructor(secrets: SecretStore, clock: Clock) {
    this.#secrets = secrets;
    this.#clock = clock;
  }

  /** Null: there is none. Undefined: nothing has been told yet. */
  get current(): Secret | null | undefined {
    return this.#current;
  }

  /** Something older was told: only the API server can say which one it is. */
  get isDoubted(): boolean {
    return this.#isDoubted;
  }

  /** When the API server last answered or sent something. */
  get lastContactAt(): Date | undefined {
    return this.#lastContactAt;
  }

  contact(): void {
    this.#lastContactAt = this.#clock.now();
  }

  /** The watch told a version. False: it is known already. */
  tell(told: Secret | undefined): boolean {
    this.contact();
    const known = this.#current;
    if (told && known && isSame(told, known)) return false;
    this.#isDoubted = told !== undefined && Boolean(known && isOlder(told, known));
    if (!this.#isDoubted) this.#current = told ?? null;
    return true;
  }

  /** An answer to us held a version. */
  adopt(answer: Secret | undefined): void {
    this.contact();
    const known = this.#current;
    if (answer && known && (isOlder(answer, known) || isSame(answer, known))) return;
    this.#current = answer ?? null;
  }

  doubt(): void {
    this.#isDoubted = true;
  }

  /** Asks the API server: what it answers is true, also when it is older. @throws AgentError, as `SecretStore.read`. */
  async settle(signal: AbortSignal): Promise<void> {
    const answer = await this.#secrets.read(signal);
    this.contact();
    this.#isDoubted = false;
    if (!answer || !this.#current || !isSame(answer, this.#current)) this.#current = answer ?? null;
  }
}

function isSame(a: Secret, b: Secret): boolean {
  return a.uid === b.uid && a.resourceVersion === b.resourceVersion;
}

/** Versions are opaque, but those that are numbers are counted up. */
function isOlder(secret: Secret, known: Secret): boolean {
  const [a, b] = [secret.resourceVersion, known.resourceVersion];
  if (secret.uid !== known.uid || !NUMBER.test(a) || !NUMBER.test(b)) return false;
  return BigInt(a) < BigInt(b);
}

const NUMBER = /^\d{1,20}$/;
