import { AgentError } from '../agent-error.js';
import type { Secret, SecretStore, WatchState } from '../ports.js';

export interface SecretVersion {
  readonly by: 'agent' | 'other';
  /** Undefined after deletion. */
  readonly data: Readonly<Record<string, Buffer>> | undefined;
}

export type SecretCall = 'watch' | 'read' | 'write';

type Watcher = { readonly tell: () => void; readonly tellState: (state: WatchState) => void };

/** Simulates the API server for one Secret, with rising version numbers, change events, write conflicts and outages. */
export class MemorySecrets implements SecretStore {
  readonly versions: SecretVersion[] = [];
  readonly #watchers = new Set<Watcher>();
  #secret: Secret | undefined;
  #version = 100;
  #made = 0;
  #outage: Error | undefined;
  /** Runs before each call of the agent; if it throws, the call fails. */
  onCall: (call: SecretCall) => void = () => undefined;
  /** Runs between a write and its answer; if it throws, the call fails. */
  onWritten: () => void = () => undefined;

  /** Unanswered calls of the agent. */
  pending = 0;

  get secret(): Secret | undefined {
    return this.#secret;
  }

  get isAtRest(): boolean {
    return this.pending === 0;
  }

  readonly waits = 0;

  lastContactMs: number | undefined;

  connect(): SecretStore {
    return this;
  }

  data(): Readonly<Record<string, Buffer>> {
    return this.#secret?.data ?? {};
  }

  create(data: Readonly<Record<string, string | Buffer>>): void {
    this.#made += 1;
    this.#put('other', buffers(data), `uid-${this.#made}`);
  }

  /** Simulates another writer. Without `data`, only the version changes. */
  change(data: Readonly<Record<string, string | Buffer>> = {}): void {
    const { secret } = this;
    if (!secret) throw new Error('there is no Secret');
    this.#put('other', { ...secret.data, ...buffers(data) }, secret.uid);
  }

  /** Simulates a restored cluster: the same Secret with a lower version. */
  restore(data: Readonly<Record<string, string | Buffer>>): void {
    const { secret } = this;
    if (!secret) throw new Error('there is no Secret');
    this.#version = 10;
    this.#put('other', { ...secret.data, ...buffers(data) }, secret.uid);
  }

  delete(): void {
    this.#secret = undefined;
    this.versions.push({ by: 'other', data: undefined });
    this.#tellAll();
  }

  /** Until `recover`, every call fails and no change is reported. */
  breakDown(): void {
    this.#outage = new AgentError('unreachable', 'the API server does not answer');
    for (const { tellState } of this.#watchers) {
      tellState({ kind: 'waiting', error: this.#outage, retryAt: new Date(0) });
    }
  }

  recover(): void {
    this.#outage = undefined;
    for (const { tell, tellState } of this.#watchers) {
      tellState({ kind: 'connected' });
      tell();
    }
  }

  async watch(
    onSecret: (secret: Secret | undefined) => void,
    onState: (state: WatchState) => void,
    { signal }: { readonly signal: AbortSignal },
  ): Promise<void> {
    const watcher: Watcher = { tell: () => onSecret(this.#secret), tellState: onState };
    this.#watchers.add(watcher);
    try {
      this.onCall('watch');
      if (this.#outage) onState({ kind: 'waiting', error: this.#outage, retryAt: new Date(0) });
      else {
        onState({ kind: 'connected' });
        watcher.tell();
      }
      if (!signal.aborted) {
        await new Promise<void>((resolve) => {
          signal.addEventListener('abort', () => resolve(), { once: true });
        });
      }
    } finally {
      this.#watchers.delete(watcher);
    }
  }

  read({ signal }: { readonly signal: AbortSignal }): Promise<Secret | undefined> {
    return this.#answer('read', signal, () => this.#secret);
  }

  write(
    secret: Secret,
    changes: Readonly<Record<string, Buffer>>,
    { signal }: { readonly signal: AbortSignal },
  ): Promise<Secret> {
    return this.#answer('write', signal, () => {
      const known = this.#secret;
      if (!known) throw new AgentError('notFound', 'there is no Secret');
      if (known.uid !== secret.uid || known.resourceVersion !== secret.resourceVersion) {
        throw new AgentError('conflict', 'the object has been modified');
      }
      const data = { ...known.data, ...changes };
      const size = Object.values(data).reduce((sum, value) => sum + value.length, 0);
      if (size > 1024 * 1024) throw new AgentError('tooLarge', 'Too long');
      const written = this.#put('agent', data, known.uid);
      this.onWritten();
      return written;
    });
  }

  async #answer<T>(call: SecretCall, signal: AbortSignal, action: () => T): Promise<T> {
    this.pending += 1;
    try {
      // Answer in a later turn of the event loop, as over a network.
      await new Promise((resolve) => setImmediate(resolve));
      signal.throwIfAborted();
      this.onCall(call);
      if (this.#outage) throw this.#outage;
      return action();
    } finally {
      this.pending -= 1;
    }
  }

  #put(by: SecretVersion['by'], data: Readonly<Record<string, Buffer>>, uid: string): Secret {
    this.#version += 1;
    this.#secret = { uid, resourceVersion: String(this.#version), data, object: {} };
    this.versions.push({ by, data });
    this.#tellAll();
    return this.#secret;
  }

  #tellAll(): void {
    if (this.#outage) return;
    for (const { tell } of this.#watchers) tell();
  }
}

function buffers(data: Readonly<Record<string, string | Buffer>>): Record<string, Buffer> {
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value)]));
}
