import { isDeepStrictEqual } from 'node:util';
import { BackOff } from '../back-off.js';
import type { Clock, SecretStore } from '../ports.js';
import type { ConnectionInfo } from './connection-info.js';

/** What {@link connectingStore} works with. */
export interface ConnectingStoreOptions {
  readonly clock: Clock;
  /** Reads the connection info. */
  readonly readInfo: () => Promise<ConnectionInfo>;
  readonly storeOf: (info: ConnectionInfo) => SecretStore;
}

/**
 * A store for a file that says where the Secret is: read when it is needed, waited for while it is not there or cannot be used, and read
 * again when the API server does not answer as wanted, because a token or an authority in it may have been replaced.
 */
export function connectingStore({ clock, readInfo, storeOf }: ConnectingStoreOptions): SecretStore {
  let known: { readonly info: ConnectionInfo; readonly store: SecretStore } | undefined;
  const connect = async () => {
    if (known === undefined) {
      const info = await readInfo();
      known = { info, store: storeOf(info) };
    }
    return known;
  };
  /** Forgets what is known if the file says something else by now. */
  const hasChanged = async (used: ConnectionInfo): Promise<boolean> => {
    try {
      if (isDeepStrictEqual(await readInfo(), used)) return false;
    } catch {
      // Perhaps it is being written: what is known may still be right.
      return false;
    }
    known = undefined;
    return true;
  };
  return {
    get lastContactAt() {
      return known?.store.lastContactAt;
    },
    watch: async (onSecret, onState, signal) => {
      const backOff = new BackOff();
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
