import type { Clock, Secret, SecretStore } from '../ports.js';

export class KnownSecret {
  readonly #secrets: SecretStore;
  readonly #clock: Clock;
  /** Null: no Secret. Undefined: no report yet. */
  current: Secret | null | undefined;
  /** True if `current` may be outdated. `settle` then asks the API server. */
  isDoubted = false;
  lastContactAt: Date | undefined;

  constructor(secrets: SecretStore, clock: Clock) {
    this.#secrets = secrets;
    this.#clock = clock;
  }

  contact(): void {
    this.lastContactAt = this.#clock.now();
  }

  /** Handles a report of the watch. Returns false if the version is already known. */
  tell(told: Secret | undefined): boolean {
    this.contact();
    const known = this.current;
    if (told && known && isSame(told, known)) return false;
    this.isDoubted = told !== undefined && Boolean(known && isOlder(told, known));
    if (!this.isDoubted) this.current = told ?? null;
    return true;
  }

  /** Adopts the answer to the agent's own request, unless it is older. */
  adopt(answer: Secret | undefined): void {
    this.contact();
    const known = this.current;
    if (answer && known && (isOlder(answer, known) || isSame(answer, known))) return;
    this.current = answer ?? null;
  }

  /** Adopts the API server's version even if it is older. @throws as `SecretStore.read`. */
  async settle(signal: AbortSignal): Promise<void> {
    const answer = await this.#secrets.read(signal);
    this.contact();
    this.isDoubted = false;
    if (!answer || !this.current || !isSame(answer, this.current)) this.current = answer ?? null;
  }
}

const isSame = (a: Secret, b: Secret) => a.uid === b.uid && a.resourceVersion === b.resourceVersion;

/** Versions are opaque, but numeric ones increase. */
function isOlder(secret: Secret, known: Secret): boolean {
  const [a, b] = [secret.resourceVersion, known.resourceVersion];
  if (secret.uid !== known.uid || !NUMBER.test(a) || !NUMBER.test(b)) return false;
  return BigInt(a) < BigInt(b);
}

const NUMBER = /^\d{1,20}$/;
