import type { Clock, Secret, SecretStore } from '../ports.js';

/** The newest known version of the Secret, from the watch or an answer. */
export class KnownSecret {
  readonly #secrets: SecretStore;
  readonly #clock: Clock;
  /** Null when the Secret does not exist. Undefined before the first report. */
  current: Secret | null | undefined;
  /** True when an older version was reported, so that only the API server can tell which one is current. */
  isDoubted = false;
  /** Time of the last data from the API server. */
  lastContactAt: Date | undefined;

  constructor(secrets: SecretStore, clock: Clock) {
    this.#secrets = secrets;
    this.#clock = clock;
  }

  contact(): void {
    this.lastContactAt = this.#clock.now();
  }

  /** Adopts a version reported by the watch. Returns false when it is already known. */
  tell(told: Secret | undefined): boolean {
    this.contact();
    const known = this.current;
    if (told && known && isSame(told, known)) return false;
    this.isDoubted = told !== undefined && Boolean(known && isOlder(told, known));
    if (!this.isDoubted) this.current = told ?? null;
    return true;
  }

  /** Adopts a version from an answer to our own request. */
  adopt(answer: Secret | undefined): void {
    this.contact();
    const known = this.current;
    if (answer && known && (isOlder(answer, known) || isSame(answer, known))) return;
    this.current = answer ?? null;
  }

  /** Reads the Secret from the API server, and adopts the answer even if it is older. @throws as `SecretStore.read`. */
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
