import type { ConnectionInfo } from '@wins/net';
import { Backoff } from '@wins/time';
import { isDeepStrictEqual } from 'node:util';
import { SOURCE_BACKOFF } from '../source-backoff.js';
import type { Clock, SecretStore } from '../ports.js';

/** Parts of a {@link connectingStore}. */
export interface ConnectingStoreOptions {
  readonly clock: Clock;
  /** Reads the connection info. */
  readonly readInfo: () => Promise<ConnectionInfo>;
  readonly storeOf: (info: ConnectionInfo) => SecretStore;
}

interface Connection {
  readonly info: ConnectionInfo;
  readonly store: SecretStore;
  /** Aborts once the file says something else. */
  readonly replaced: AbortController;
}

/**
 * A store for a file that says where the Secret is. The file is read when it is needed, and awaited while it is missing or cannot be used. It is
 * read again whenever the API server does not answer as wanted, because a token or an authority in it may have been replaced. A watch that still
 * goes on by then is made anew, as the server ends none for a token that has ended.
 */
export function connectingStore({ clock, readInfo, storeOf }: ConnectingStoreOptions): SecretStore {
  let known: Connection | undefined;
  let connecting: Promise<Connection> | undefined;
  let contact: Date | undefined;
  const lastContact = (): Date | undefined => (contact = known?.store.lastContactAt ?? contact);
  const open = async (): Promise<Connection> => {
    const info = await readInfo();
    return (known = { info, store: storeOf(info), replaced: new AbortController() });
  };
  const connect = async (): Promise<Connection> => {
    if (known !== undefined) return known;
    connecting ??= open().finally(() => (connecting = undefined));
    return await connecting;
  };
  /** Forgets a connection if the file says something else by now. */
  const isReplaced = async (used: Connection): Promise<boolean> => {
    try {
      if (isDeepStrictEqual(await readInfo(), used.info)) return false;
    } catch {
      // Perhaps it is being written: what is known may still be right.
      return false;
    }
    lastContact();
    // A newer connection may be there already.
    if (known === used) known = undefined;
    used.replaced.abort();
    return true;
  };
  /** Asks once more where the connection info was replaced; otherwise the caller decides when to try again. */
  const ask = async <T>(question: (store: SecretStore) => Promise<T>): Promise<T> => {
    const used = await connect();
    try {
      return await question(used.store);
    } catch (error) {
      if (!(await isReplaced(used))) throw error;
      return await question((await connect()).store);
    }
  };
  return {
    get lastContactAt() {
      return lastContact();
    },
    watch: async (onSecret, onState, signal) => {
      const backOff = new Backoff(SOURCE_BACKOFF);
      while (!signal.aborted) {
        try {
          const used = await connect();
          backOff.reset();
          const { store, replaced } = used;
          await store.watch(
            onSecret,
            (state) => {
              onState(state);
              if (state.kind !== 'connected') void isReplaced(used);
            },
            AbortSignal.any([signal, replaced.signal]),
          );
        } catch (error) {
          if (!(error instanceof Error)) throw error;
          const waitMs = backOff.nextMs();
          onState({ kind: 'waiting', error, retryAt: new Date(clock.now().getTime() + waitMs) });
          await clock.wait(waitMs, signal).catch(() => undefined);
        }
      }
    },
    read: (signal) => ask((store) => store.read(signal)),
    write: (secret, changes, signal) => ask((store) => store.write(secret, changes, signal)),
  };
}
