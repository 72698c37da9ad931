import { Agent, type AgentOptions } from 'node:http';
import type { Socket } from 'node:net';
import type { TlsTrust } from '../trust/tls-trust.js';

const KEEP_ALIVE_MS = 30_000;

export interface PooledOptions {
  readonly poolName: string;
  /** Undefined when the request reuses a kept connection. */
  readonly opened: () => Socket | undefined;
}

/** Pools connections by destination, trust and proxy. The caller opens them. */
export class ConnectionPool extends Agent {
  readonly #numbers = new WeakMap<TlsTrust, number>();
  #lastNumber = 0;

  constructor(keptConnections: number) {
    const options: AgentOptions = {
      keepAlive: keptConnections > 0,
      keepAliveMsecs: KEEP_ALIVE_MS,
      maxFreeSockets: keptConnections,
      scheduling: 'lifo',
    };
    super(options);
  }

  /** Includes trust and proxy, so that a request never reuses a connection with another trust or proxy. */
  nameOf(url: URL, trust: TlsTrust, proxy: URL | undefined): string {
    let number = this.#numbers.get(trust);
    if (number === undefined) this.#numbers.set(trust, (number = this.#lastNumber += 1));
    return `${url.origin} ${number} ${proxy?.origin ?? ''}`;
  }

  hasKept(name: string): boolean {
    return this.freeSockets[name]?.some((socket) => !socket.destroyed) ?? false;
  }

  endKept(name?: string): void {
    const kept = name === undefined ? Object.values(this.freeSockets) : [this.freeSockets[name]];
    for (const socket of kept.flat()) socket?.destroy();
  }

  override getName(options?: object): string {
    return (options as PooledOptions).poolName;
  }

  override createConnection(options: object): Socket | undefined {
    return (options as PooledOptions).opened();
  }
}
