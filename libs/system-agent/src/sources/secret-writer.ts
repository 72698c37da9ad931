import { Backoff } from '@wins/time';
import { AgentError } from '../agent-error.js';
import { fitSecret, MAX_SECRET_BYTES, sizeOf } from '../decide/cut-outputs.js';
import { KEY, type SecretData } from '../decide/secret-state.js';
import { planChecksum } from '../plan/parse-plan.js';
import type { Clock, Secret, SecretStore } from '../ports.js';
import { SOURCE_BACKOFF } from '../kubernetes/connections.js';
import type { Changes, KeptChanges } from './kept-changes.js';

/** Maximum number of retries without a delay. Each may halve the size limit: 30 halvings cut a megabyte to nothing. */
const MAX_TRIES = 30;

export interface SecretWriterOptions {
  readonly secrets: Pick<SecretStore, 'read' | 'write'>;
  readonly clock: Clock;
  readonly kept: KeptChanges;
  /** Undefined: nothing is left to write or to remove, so a later problem is a new one. */
  readonly onWarning: (message: string | undefined, error?: Error) => void;
}

/** Holds changes until the API server has them, across conflicts, outages and the end of the daemon. */
export class SecretWriter {
  readonly #options: SecretWriterOptions;
  readonly #backOff = new Backoff(SOURCE_BACKOFF);
  #changes: Changes | undefined;
  #onDisk = false;
  /** `retryAtMs`: time of the monotonic clock. */
  failure: { readonly error: Error; readonly retryAtMs: number } | undefined;
  #maxBytes = MAX_SECRET_BYTES;

  constructor(options: SecretWriterOptions) {
    this.#options = options;
  }

  get checksum(): string {
    return this.#changes?.checksum ?? '';
  }

  /** Unwritten values, which override those of the Secret. */
  get values(): SecretData {
    return this.#changes?.values ?? {};
  }

  async load(): Promise<void> {
    // If the source was restarted in this process, memory is newer than the disk.
    if (this.#changes) return;
    try {
      this.#changes = await this.#options.kept.load();
    } catch (error) {
      this.#options.onWarning('the kept copy of an earlier result cannot be used', error as Error);
    }
    this.#onDisk = this.#changes !== undefined;
  }

  /** With `durable`, saves the changes on disk before it resolves. */
  async add(secret: Secret, changes: Omit<Changes, 'uid'>, durable: boolean): Promise<void> {
    const values = { ...this.#changes?.values, ...changes.values };
    // If `changes` has no `plan-state`, keep the `planState` of the pending changes.
    const { planState } = KEY.planState in changes.values ? changes : (this.#changes ?? changes);
    const { checksum } = changes;
    this.#changes = { uid: secret.uid, checksum, planState, values: this.#fitted(secret, values) };
    if (durable || this.#onDisk) await this.#keep();
  }

  /** Drops changes that another writer made obsolete. */
  async rebase(secret: Secret | undefined): Promise<void> {
    const changes = this.#changes;
    if (!changes) return;
    const values = Object.entries(changes.values).filter(([key, value]) => {
      const current = secret?.data[key];
      // Drop our `plan-state` if another writer changed it during the pass.
      if (secret && key === KEY.planState && current?.toString() !== changes.planState)
        return false;
      return !current?.equals(value);
    });
    const plan = secret?.data[KEY.plan];
    if (values.length === 0) {
      await this.#done();
    } else if (secret?.uid !== changes.uid || !plan || planChecksum(plan) !== changes.checksum) {
      const message = `the result of plan ${changes.checksum} is not written: the Secret is gone or has another plan`;
      this.#options.onWarning(message);
      await this.#done();
    } else {
      this.#changes = { ...changes, values: Object.fromEntries(values) };
    }
  }

  hurry(): void {
    if (this.failure)
      this.failure = { ...this.failure, retryAtMs: this.#options.clock.monotonicMs() };
  }

  /**
   * Resolves with the written Secret, with undefined when the Secret is gone, or with `secret` when the write failed or is not due.
   * @throws only the reason of the signal.
   */
  async flush(secret: Secret, signal: AbortSignal): Promise<Secret | undefined> {
    if (this.failure && this.failure.retryAtMs > this.#options.clock.monotonicMs()) return secret;
    let current: Secret | undefined = secret;
    try {
      for (let tries = 0; this.#changes && current; tries += 1)
        current = await this.#try(current, this.#changes.values, tries, signal);
    } catch (error) {
      signal.throwIfAborted();
      const retryAtMs = this.#options.clock.monotonicMs() + this.#backOff.nextMs();
      this.failure = { error: error as Error, retryAtMs };
      await this.#keep();
    }
    return current;
  }

  /** Writes once. After a failure that a retry can solve, prepares the retry. @throws any other failure. */
  async #try(secret: Secret, values: SecretData, tries: number, signal: AbortSignal) {
    const { secrets } = this.#options;
    try {
      const written = await secrets.write(secret, values, { signal });
      await this.#done();
      return written;
    } catch (error) {
      signal.throwIfAborted();
      const code = error instanceof AgentError ? error.code : 'refused';
      if (tries >= MAX_TRIES) throw error;
      if (code === 'tooLarge' && this.#shrink(secret)) return secret;
      if (code !== 'conflict' && code !== 'notFound') throw error;
      const fresh = await secrets.read({ signal });
      await this.rebase(fresh);
      return fresh;
    }
  }

  #shrink(secret: Secret): boolean {
    const changes = this.#changes;
    if (!changes) return false;
    this.#maxBytes /= 2;
    const values = this.#fitted(secret, changes.values);
    const isSmaller = sizeOf(values) < sizeOf(changes.values);
    this.#changes = { ...changes, values };
    return isSmaller;
  }

  #fitted(secret: Secret, values: SecretData): SecretData {
    return fitSecret(secret.data, values, this.#maxBytes);
  }

  async #keep(): Promise<void> {
    if (!this.#changes) return;
    try {
      await this.#options.kept.save(this.#changes);
      this.#onDisk = true;
    } catch (error) {
      this.#options.onWarning(
        'cannot keep a result on the disk; it is lost if the daemon ends',
        error as Error,
      );
    }
  }

  async #done(): Promise<void> {
    this.#changes = undefined;
    this.failure = undefined;
    this.#maxBytes = MAX_SECRET_BYTES;
    this.#backOff.reset();
    try {
      if (this.#onDisk) await this.#options.kept.remove();
      this.#onDisk = false;
      this.#options.onWarning(undefined);
    } catch (error) {
      this.#options.onWarning(
        'cannot remove a written result from the disk yet; the next one retries',
        error as Error,
      );
    }
  }
}
