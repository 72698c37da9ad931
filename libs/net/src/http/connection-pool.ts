import { Agent, type AgentOptions } from 'node:http';
import type { Socket } from 'node:net';
import type { TlsTrust } from '../trust/tls-trust.js';

const KEEP_ALIVE_MS = 30_000;

/** Options by which `request` tells the pool which connection it may use. */
export interface PooledOptions {
  /** Connections with the same name lead to the same server in the same way. */
  readonly poolName: string;
  /** The connection that was opened for the request; undefined where a kept one is going to be used. */
  readonly opened: () => Socket | undefined;
}

/** Connections that are open, by where they lead and whose certificate was believed. They are opened by others, step by step. */
export class ConnectionPool extends Agent {
  readonly #numbers = new WeakMap<TlsTrust, number>();
  #lastNumber = 0;

  constructor(keptConnections: number) {
    const options: AgentOptions = {
      ...{ keepAlive: keptConnections > 0, keepAliveMsecs: KEEP_ALIVE_MS },
      ...{ maxFreeSockets: keptConnections, scheduling: 'lifo' },
    };
    super(options);
  }

  /** A connection is not used again for a question that believes others, or goes another way. */
  nameOf(url: URL, trust: TlsTrust, proxy: URL | undefined): string {
    let number = this.#numbers.get(trust);
    if (number === undefined) this.#numbers.set(trust, (number = this.#lastNumber += 1));
    return `${url.origin} ${number} ${proxy?.origin ?? ''}`;
  }

  /** Whether the next request of this name uses a connection that is kept. */
  hasKept(name: string): boolean {
    return this.freeSockets[name]?.some((socket) => !socket.destroyed) ?? false;
  }

  /** Ends those that are kept, of one name or all. */
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
