import { type ConnectionInfo, judgeConnectionInfo, MAX_CONNECTION_INFO_BYTES } from '@wins/net';
import { Backoff } from '@wins/time';
import { isDeepStrictEqual } from 'node:util';
import { SOURCE_BACKOFF } from '../sources/supervise.js';
import type { Clock, SecretStore } from '../ports.js';
import { readText, TrustedFileError, type FileTrust } from '@wins/trusted-files';
import { quoteText } from '@wins/base';
import { AgentError } from '../agent-error.js';

export interface ConnectingStoreOptions {
  readonly clock: Clock;
  readonly readInfo: () => Promise<ConnectionInfo>;
  readonly storeOf: (info: ConnectionInfo) => SecretStore;
}

interface Connection {
  readonly info: ConnectionInfo;
  readonly store: SecretStore;
  readonly replaced: AbortController;
}

/**
 * Store for the Secret that a connection file locates. Waits while the file is missing or unusable. Reads the file again
 * after each unexpected answer, because the file may have a new token or authority. A replaced file restarts an open
 * watch, because the server does not end a watch whose token has expired.
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
  const isReplaced = async (used: Connection): Promise<boolean> => {
    try {
      if (isDeepStrictEqual(await readInfo(), used.info)) return false;
    } catch {
      // Another process may be writing the file.
      return false;
    }
    lastContact();
    if (known === used) known = undefined;
    used.replaced.abort();
    return true;
  };
  /** Repeats a request once if the connection file was replaced. */
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

/**
 * Refuses a file that anyone but administrators and this account can change. Follows links that only they could have made,
 * except on Windows. @throws AgentError `invalidConnection`.
 */
export async function readConnectionInfo(
  path: string,
  trust: Pick<FileTrust, 'distrustOfFile'>,
): Promise<ConnectionInfo> {
  const options = { trust, followLinks: true, maxBytes: MAX_CONNECTION_INFO_BYTES };
  const text = await readText(path, options).catch((error: unknown) => {
    if (!(error instanceof TrustedFileError)) throw error;
    const where = error.at === path ? '' : ` because of ${quoteText(error.at)}`;
    const isLink = error.rule === 'A7 link or junction';
    const next = isLink ? '. Set systemagent.connectionInfoFile to the path without the link' : '';
    throw refused(`${quoteText(path)}${where}`, error.found + next, error);
  });
  return parseConnectionInfo(text, path);
}

/** @throws AgentError `invalidConnection`. */
export function parseConnectionInfo(text: string, path: string): ConnectionInfo {
  const info = judgeConnectionInfo(text);
  if ('found' in info) throw refused(quoteText(path), info.found);
  return info;
}

function refused(shown: string, found: string, cause?: Error): AgentError {
  const message = `cannot use the connection info ${shown}: ${found}`;
  return new AgentError('invalidConnection', message, cause && { cause });
}
