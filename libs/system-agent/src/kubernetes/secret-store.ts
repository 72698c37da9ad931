import { reporter } from '@wins/base';
import type { ConnectionInfo } from '@wins/net';
import { AgentError, type AgentErrorCode } from '../agent-error.js';
import type { Secret, SecretStore } from '../ports.js';
import { delivery } from './delivery.js';
import { ANSWER_MS, ApiConnection, QUIET_MS, type SecretStoreOptions } from './api-connection.js';
import { followSecret } from './follow-secret.js';
import { changedObject, readSecret } from './secret-object.js';

/** Store for a Secret of a Kubernetes API server. */
export interface ApiSecretStore extends SecretStore {
  /** Checks the permission by a dry-run write; a conflict proves it too. @throws AgentError as `write`. */
  tryWriting(secret: Secret, options: { readonly signal: AbortSignal }): Promise<void>;
}

/**
 * Refuses redirects, compressed answers, and answers or watch lines above 4 MiB. Errors never contain the token. Their codes:
 * `unreachable`, `unauthorized`, `forbidden`, `notFound`, `conflict`, `expired`, `tooLarge`, `refused`, `closed`.
 * @throws AgentError `invalidConnection` for an invalid proxy, or if `strictTls` is set and the kubeconfig names no authority.
 */
export function secretStore(
  { access, namespace, secretName, warnings }: ConnectionInfo,
  options: SecretStoreOptions,
): ApiSecretStore {
  const { clock, random = Math.random, answerMs = ANSWER_MS } = options;
  const { quietMs = QUIET_MS, startTimer } = options;
  for (const warning of warnings) reporter(options.onWarning)(warning);
  let lastContactMs: number | undefined;
  const onContact = (): void => {
    lastContactMs = clock.monotonicMs();
  };
  const connection = new ApiConnection(access, { ...options, onContact });
  const name = { namespace, secretName };
  const path = `/api/v1/namespaces/${namespace}/secrets/${secretName}`;
  const put = (secret: Secret, changes: Secret['data'], query: string, signal: AbortSignal) => {
    const body = JSON.stringify(changedObject(secret, changes));
    return connection.ask(
      { method: 'PUT', path: path + query, body, what: 'write the Secret' },
      signal,
    );
  };
  return {
    get lastContactMs() {
      return lastContactMs;
    },
    watch: async (onSecret, onState, { signal }) => {
      const following = { connection, clock, random, answerMs, quietMs, startTimer };
      try {
        const listener = {
          onContact,
          onSecret: delivery(onSecret),
          onState: reporter(onState),
        };
        await followSecret(name, following, listener, signal);
      } finally {
        // The server might never close the idle connection.
        connection.closeIdle();
      }
    },
    read: async ({ signal }) => {
      const asked = connection.ask({ method: 'GET', path, what: 'read the Secret' }, signal);
      const found = await asked.catch(unless('notFound'));
      return found === undefined ? undefined : readSecret(found, name);
    },
    write: async (secret, changes, { signal }) =>
      readSecret(await put(secret, changes, '', signal), name),
    tryWriting: async (secret, { signal }) => {
      await put(secret, {}, '?dryRun=All', signal).catch(unless('conflict'));
    },
  };
}

const unless = (code: AgentErrorCode) => (error: unknown) => {
  if (!(error instanceof AgentError) || error.code !== code) throw error;
};
