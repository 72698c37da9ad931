import { Backoff } from '@wins/time';
import { isDeepStrictEqual } from 'node:util';
import { SOURCE_BACKOFF } from '../source-backoff.js';
import type { Clock, SecretStore } from '../ports.js';
import type { ConnectionInfo } from './connection-info.js';

/** What {@link connectingStore} works with. */
export interface ConnectingStoreOptions {
  readonly clock: Clock;
  /** Reads the connection info. */
  readonly readInfo: () => Promise<ConnectionInfo>;
  readonly storeOf: (info: ConnectionInfo) => SecretStore;
}

interface Connection {
  readonly info: ConnectionInfo;
  readonly store: SecretStore;
}

/**
 * A store for a file that says where the Secret is: read when it is needed, waited for while it is not there or cannot be used, and read
 * again when the API server does not answer as wanted, because a token or an authority in it may have been replaced.
 */
export function connectingStore({ clock, readInfo, storeOf }: ConnectingStoreOptions): SecretStore {
  let known: Connection | undefined;
  let connecting: Promise<Connection> | undefined;
  let contact: Date | undefined;
  const lastContact = (): Date | undefined => (contact = known?.store.lastContactAt ?? contact);
  const open = async (): Promise<Connection> => {
    const info = await readInfo();
    return (known = { info, store: storeOf(info) });
  };
  const connect = async (): Promise<Connection> => {
    if (known !== undefined) return known;
    connecting ??= open().finally(() => (connecting = undefined));
    return await connecting;
  };
  /** Forgets what is known if the file says something else by now. */
  const hasChanged = async (used: ConnectionInfo): Promise<boolean> => {
    try {
      if (isDeepStrictEqual(await readInfo(), used)) return false;
    } catch {
      // Perhaps it is being written: what is known may still be right.
      return false;
    }
    lastContact();
    // A newer connection may be there already.
    if (known?.info === used) known = undefined;
    return true;
  };
  return {
    get lastContactAt() {
      return lastContact();
    },
    watch: async (onSecret, onState, signal) => {
      const backOff = new Backoff(SOURCE_BACKOFF);
      while (!signal.aborted) {
        try {
          const { info, store } = await connect();
          backOff.reset();
          const replaced = new AbortController();
          const until = AbortSignal.any([signal, replaced.signal]);
          await store.watch(
            onSecret,
            (state) => {
              onState(state);
              if (state.kind === 'connected') return;
              void hasChanged(info).then((changed) => changed && replaced.abort());
            },
            until,
          );
        } catch (error) {
          if (!(error instanceof Error)) throw error;
          const waitMs = backOff.nextMs();
          onState({ kind: 'waiting', error, retryAt: new Date(clock.now().getTime() + waitMs) });
          await clock.wait(waitMs, signal).catch(() => undefined);
        }
      }
    },
    read: async (signal) => (await connect()).store.read(signal),
    write: async (secret, changes, signal) =>
      (await connect()).store.write(secret, changes, signal),
  };
}
