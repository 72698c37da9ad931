import { parseConnectionInfo, connectingStore } from '../../kubernetes/connecting-store.js';
import { secretStore } from '../../kubernetes/secret-store.js';
import type { Clock, Secret, SecretStore } from '../../ports.js';
import {
  type ApiServer,
  type ApiServerOptions,
  startApiServer,
} from '../api-server/start-api-server.js';
import type { PlayedSecrets } from './scenario-player.js';

/** Value of `#told` before the store's first report. */
const NOTHING = Symbol('nothing');

/**
 * Lets the daemon's own store read the Secret over HTTPS. `isAtRest` is false while requests are pending, so that the
 * scenario's clock does not advance.
 */
export class ServedSecrets implements PlayedSecrets {
  onWritten: () => void = () => undefined;
  readonly api: ApiServer;
  readonly #clock: Clock;
  #pending = 0;
  #waits = 0;
  #isUp = true;
  #isConnected = false;
  #told: string | typeof NOTHING | undefined = NOTHING;

  private constructor(api: ApiServer, clock: Clock) {
    this.api = api;
    this.#clock = clock;
  }

  static async start(clock: Clock, options?: ApiServerOptions): Promise<ServedSecrets> {
    return new ServedSecrets(await startApiServer(options), clock);
  }

  /** Simulates a new process: the store opens new connections and knows no Secret. */
  connect(): SecretStore {
    this.#told = NOTHING;
    this.#isConnected = false;
    const clock = this.#countedClock();
    const info = parseConnectionInfo(this.api.connectionInfo(), '/connection.json');
    const store = connectingStore({
      clock,
      readInfo: () => Promise.resolve(info),
      storeOf: () => secretStore(info, { clock, strictTls: true, random: () => 0 }),
    });
    return {
      get lastContactMs() {
        return store.lastContactMs;
      },
      watch: (onSecret, onState, { signal }) =>
        store.watch(
          (secret) => {
            this.#told = secret?.resourceVersion;
            onSecret(secret);
          },
          (state) => {
            this.#isConnected = state.kind === 'connected';
            onState(state);
          },
          { signal },
        ),
      read: ({ signal }) => this.#counted(store.read({ signal })),
      write: (secret, changes, { signal }) => this.#write(store.write(secret, changes, { signal })),
    };
  }

  get waits(): number {
    return this.#waits;
  }

  get isAtRest(): boolean {
    if (this.#pending > 0) return false;
    if (this.#waits > 0) return true;
    const { resourceVersion } = this.api.read()?.metadata ?? {};
    return this.#isUp && this.#isConnected && this.#told === resourceVersion;
  }

  data(): Readonly<Record<string, Buffer>> {
    return this.api.read() === undefined ? {} : this.api.data();
  }

  create(data: Readonly<Record<string, string | Buffer>>): void {
    this.api.create(data);
  }

  change(data?: Readonly<Record<string, string | Buffer>>): void {
    this.api.update(data);
  }

  delete(): void {
    this.api.remove();
  }

  async breakDown(): Promise<void> {
    this.#isUp = false;
    await this.api.down();
  }

  /** Like a real server, forgets the history of versions. */
  async recover(): Promise<void> {
    this.api.compact();
    await this.api.up();
    this.#isUp = true;
  }

  async close(): Promise<void> {
    await this.api.close();
  }

  async #write(writing: Promise<Secret>): Promise<Secret> {
    const written = await this.#counted(writing);
    this.onWritten();
    return written;
  }

  async #counted<T>(asking: Promise<T>): Promise<T> {
    this.#pending += 1;
    try {
      return await asking;
    } finally {
      this.#pending -= 1;
    }
  }

  /** Counts the store's waits, so that they are not taken for waits of a pass. */
  #countedClock(): Clock {
    return {
      now: () => this.#clock.now(),
      monotonicMs: () => this.#clock.monotonicMs(),
      wait: async (ms, { signal } = {}) => {
        this.#waits += 1;
        try {
          await this.#clock.wait(ms, { signal });
        } finally {
          this.#waits -= 1;
        }
      },
    };
  }
}
