import { LeapingClock } from '@wins/net/testing';
import { EventEmitter, once } from 'node:events';
import type { AgentErrorCode } from '../agent-error.js';
import { parseConnectionInfo } from '../kubernetes/connecting-store.js';
import type { SecretStoreOptions } from '../kubernetes/api-connection.js';
import { secretStore, type ApiSecretStore } from '../kubernetes/secret-store.js';
import type { Secret, SecretStore, WatchState } from '../ports.js';
import {
  startApiServer,
  type ApiRequest,
  type ApiServer,
  type ApiServerOptions,
  type KubeconfigOptions,
} from './index.js';

export const AT_START = new Date('2026-11-22T00:00:00Z');
const servers: ApiServer[] = [];
export const stops: (() => Promise<void>)[] = [];

/** Ends the watches and servers of a test. A spec that uses this file calls it after each test. */
export async function closeStores(): Promise<void> {
  for (const stop of stops.splice(0)) await stop();
  for (const server of servers.splice(0)) await server.close();
}

export async function serve(options?: ApiServerOptions): Promise<ApiServer> {
  const server = await startApiServer(options);
  servers.push(server);
  return server;
}

export function storeOf(
  server: ApiServer,
  options: Partial<SecretStoreOptions> = {},
  kubeconfig?: KubeconfigOptions,
): ApiSecretStore {
  const info = parseConnectionInfo(server.connectionInfo(kubeconfig), '/connection.json');
  return secretStore(info, {
    clock: new LeapingClock(),
    strictTls: true,
    random: () => 0,
    ...options,
  });
}

export const never: AbortSignal = new AbortController().signal;

/**
 * Watches the Secret in `store`. Collects the watch states in `states`, and the reported Secrets in `secrets`. For each
 * report, `reported` gets the plan's text, or `none` if there is no Secret or no plan.
 */
export function watching(store: SecretStore) {
  const reported: string[] = [];
  const secrets: Secret[] = [];
  const states: WatchState[] = [];
  const controller = new AbortController();
  const changes = new EventEmitter();
  const report = () => changes.emit('change');
  const ended = store.watch(
    (secret) => {
      reported.push(secret?.data['plan']?.toString() ?? 'none');
      if (secret) secrets.push(secret);
      report();
    },
    (state) => {
      states.push(state);
      report();
    },
    { signal: controller.signal },
  );
  const stop = async (): Promise<void> => {
    controller.abort();
    await ended;
  };
  stops.push(stop);
  const until = async (isReached: () => boolean): Promise<void> => {
    while (!isReached()) await once(changes, 'change');
  };
  return {
    reported,
    secrets,
    states,
    stop,
    until,
    reports: async (count: number) => {
      await until(() => reported.length >= count);
      return reported;
    },
    connected: () => until(() => states.at(-1)?.kind === 'connected'),
    failures: () =>
      states.flatMap((state) => (state.kind === 'waiting' ? [codeOf(state.error)] : [])),
  };
}

export function codeOf(error: unknown): AgentErrorCode {
  return (error as { code: AgentErrorCode }).code;
}

export const isWatch = ({ query }: ApiRequest) => query.get('watch') === 'true';
