import { type ConnectionInfo, judgeConnectionInfo, MAX_CONNECTION_INFO_BYTES } from '@wins/net';
import type { Clock, SecretStore } from '../ports.js';
import { readText, TrustedFileError, type FileTrust } from '@wins/trusted-files';
import { quoteText, reporter } from '@wins/base';
import { AgentError } from '../agent-error.js';
import { delivery } from './delivery.js';
import { Connections } from './connections.js';

/** Options of {@link connectingStore}. */
export interface ConnectingStoreOptions {
  readonly clock: Clock;
  /** Reads the connection file; called again after each unexpected answer. */
  readonly readInfo: () => Promise<ConnectionInfo>;
  readonly storeOf: (info: ConnectionInfo) => SecretStore;
}

/**
 * Store for the Secret that a connection file locates. Waits while the file is missing or unusable. Reads the file again
 * after each unexpected answer, because the file may have a new token or authority.
 */
export function connectingStore({ clock, readInfo, storeOf }: ConnectingStoreOptions): SecretStore {
  const connections = new Connections({ clock, readInfo, open: storeOf });
  let contactMs: number | undefined;
  /** Repeats a request once if the connection file was replaced. */
  const ask = async <T>(question: (store: SecretStore) => Promise<T>): Promise<T> => {
    const used = await connections.current();
    try {
      return await question(used.client);
    } catch (error) {
      contactMs = used.client.lastContactMs ?? contactMs;
      if (!(await connections.isReplaced(used))) throw error;
      return await question((await connections.current()).client);
    }
  };
  return {
    get lastContactMs() {
      return (contactMs = connections.known?.lastContactMs ?? contactMs);
    },
    watch: (onSecret, onState, { signal }) => {
      const deliver = delivery(onSecret);
      const reportState = reporter(onState);
      return connections.follow(
        (store, tell, until) => store.watch(deliver, tell, { signal: until }),
        (state) => {
          contactMs = connections.known?.lastContactMs ?? contactMs;
          reportState(state);
        },
        signal,
      );
    },
    read: ({ signal }) => ask((store) => store.read({ signal })),
    write: (secret, changes, { signal }) =>
      ask((store) => store.write(secret, changes, { signal })),
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
