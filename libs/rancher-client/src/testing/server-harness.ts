import { isNetError, type NetError } from '@wins/net';
import { LeapingClock, startProxy, type ProxyDouble, type ProxyOptions } from '@wins/net/testing';
import type { RancherSettings } from '../http/rancher-client.js';
import { startRancher, type RancherDouble, type RancherOptions } from './start-rancher.js';

/** Token that no message may contain. */
export const CANARY = 'canary-of-a-token-0123456789';

const open: { close(): Promise<void> }[] = [];

/** Call it in `afterEach`. */
export async function closeServers(): Promise<void> {
  await Promise.all(open.splice(0).map((each) => each.close()));
}

export async function rancher(options: RancherOptions = {}): Promise<RancherDouble> {
  const started = await startRancher({ token: CANARY, ...options });
  open.push(started);
  return started;
}

export async function proxy(options: ProxyOptions): Promise<ProxyDouble> {
  const started = await startProxy(options);
  open.push(started);
  return started;
}

/** Settings without proxies, trusted authorities or real waits. */
export function settings(
  more: RancherSettings = {},
): RancherSettings & { readonly warnings: string[] } {
  const warnings: string[] = [];
  return {
    environment: {},
    systemRoots: () => [],
    clock: new LeapingClock(),
    random: () => 1,
    onWarning: (message) => void warnings.push(message),
    ...more,
    warnings,
  };
}

export async function failureOf(promise: Promise<unknown>): Promise<NetError<string>> {
  const error = await promise.then(
    (value) => {
      throw new Error(`it did not fail, but gave ${JSON.stringify(value)}`);
    },
    (reason: unknown) => reason,
  );
  if (isNetError(error)) return error;
  throw error;
}
