import { Backoff, type BackoffOptions } from '@wins/time';
import { isDeepStrictEqual } from 'node:util';
import type { Clock, WatchState } from '../ports.js';

/** Delays before a connection or a source of plans is tried again. The default jitter keeps a thousand nodes from returning to one server at once. */
export const SOURCE_BACKOFF: BackoffOptions = { initialMs: 1_000, maxMs: 60_000 };

export interface ConnectionsOptions<Info, Client> {
  readonly clock: Clock;
  readonly readInfo: () => Promise<Info>;
  readonly open: (info: Info) => Client;
  /** Calls `look` when the file may have changed. Default: the file is read again only after a failure. */
  readonly watchInfo?: ((look: () => void) => Disposable) | undefined;
}

export interface OpenConnection<Info, Client> {
  readonly info: Info;
  readonly client: Client;
  readonly replaced: AbortController;
}

/**
 * The client of the API server that a connection file locates. Opens it when it is needed, and anew when the file was replaced,
 * because the file may have a new token or authority.
 */
export class Connections<Info, Client> {
  readonly #options: ConnectionsOptions<Info, Client>;
  #known: OpenConnection<Info, Client> | undefined;
  #opening: Promise<OpenConnection<Info, Client>> | undefined;

  constructor(options: ConnectionsOptions<Info, Client>) {
    this.#options = options;
  }

  get known(): Client | undefined {
    return this.#known?.client;
  }

  /** @throws as `readInfo` and `open`. */
  async current(): Promise<OpenConnection<Info, Client>> {
    if (this.#known !== undefined) return this.#known;
    this.#opening ??= this.#open().finally(() => (this.#opening = undefined));
    return await this.#opening;
  }

  /** Reads the file again. If it was replaced, forgets `used` and aborts its signal. */
  async isReplaced(used: OpenConnection<Info, Client>): Promise<boolean> {
    try {
      if (isDeepStrictEqual(await this.#options.readInfo(), used.info)) return false;
    } catch {
      // Another process may be writing the file.
      return false;
    }
    if (this.#known === used) this.#known = undefined;
    used.replaced.abort();
    return true;
  }

  /**
   * Calls `run` with the current client until the signal aborts. Reads the file again whenever `run` reports a failure, because
   * the server does not end a watch whose token has expired. Waits while the file is missing or unusable.
   */
  async follow(
    run: (
      client: Client,
      onState: (state: WatchState) => void,
      signal: AbortSignal,
    ) => Promise<void>,
    onState: (state: WatchState) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const { clock, watchInfo } = this.#options;
    const backOff = new Backoff(SOURCE_BACKOFF);
    let waiting = new AbortController();
    let used: OpenConnection<Info, Client> | undefined;
    using _watching = watchInfo?.(() => {
      waiting.abort();
      if (used !== undefined) void this.isReplaced(used);
    });
    while (!signal.aborted) {
      // Made before the file is read, which may change while it is read.
      waiting = new AbortController();
      try {
        const connection = (used = await this.current());
        backOff.reset();
        await run(
          connection.client,
          (state) => {
            onState(state);
            if (state.kind !== 'connected') void this.isReplaced(connection);
          },
          AbortSignal.any([signal, connection.replaced.signal]),
        );
      } catch (error) {
        if (!(error instanceof Error)) throw error;
        const waitMs = backOff.nextMs();
        onState({ kind: 'waiting', error, retryAt: new Date(clock.now().getTime() + waitMs) });
        const until = AbortSignal.any([signal, waiting.signal]);
        await clock.wait(waitMs, { signal: until }).catch(() => undefined);
      }
    }
  }

  async #open(): Promise<OpenConnection<Info, Client>> {
    const { open, readInfo } = this.#options;
    const info = await readInfo();
    return (this.#known = { info, client: open(info), replaced: new AbortController() });
  }
}
