import { EventEmitter, once } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import type { AgentErrorCode } from '../agent-error.js';
import { parseConnectionInfo } from '../kubernetes/connecting-store.js';
import type { SecretStoreOptions } from '../kubernetes/api-connection.js';
import { secretStore, type ApiSecretStore } from '../kubernetes/secret-store.js';
import type { Clock, Secret, SecretStore, StartTimer, WatchState } from '../ports.js';
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

afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
  for (const server of servers.splice(0)) await server.close();
});

export async function serve(options?: ApiServerOptions): Promise<ApiServer> {
  const server = await startApiServer(options);
  servers.push(server);
  return server;
}

export class LeapingClock implements Clock {
  readonly waits: number[] = [];
  #now = AT_START.getTime();

  now(): Date {
    return new Date(this.#now);
  }

  advance(ms: number): void {
    this.#now += ms;
  }

  async wait(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    this.waits.push(ms);
    this.#now += ms;
    await turn();
  }
}

/** Timers that only `advance` ends. */
export class ManualTimers {
  readonly #running = new Map<
    object,
    { readonly end: () => void; readonly ms: number; at: number }
  >();
  #nowMs = 0;

  readonly start: StartTimer = (end, ms) => {
    const timer = {
      refresh: (): unknown => this.#running.has(timer) && this.#set(timer, end, ms),
      close: (): unknown => this.#running.delete(timer),
    };
    this.#set(timer, end, ms);
    return timer as ReturnType<StartTimer>;
  };

  advance(ms: number): void {
    this.#nowMs += ms;
    const due = [...this.#running].filter(([, { at }]) => at <= this.#nowMs);
    for (const [timer, { end }] of due.sort(([, a], [, b]) => a.at - b.at))
      if (this.#running.delete(timer)) end();
  }

  #set(timer: object, end: () => void, ms: number): void {
    this.#running.set(timer, { end, ms, at: this.#nowMs + ms });
  }
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
    controller.signal,
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
