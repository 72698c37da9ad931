import { GUARDED_KEYS, type GuardedKey } from '@wins/base';
import type { WinsConfig } from '../gen/wins-config.js';

const LOSSES: Readonly<Record<GuardedKey, string>> = {
  systemagent: 'which follows the plans of the node',
  'csi-proxy': 'without which csi-proxy is removed from the node',
  hostNetwork: 'without which routes and the network of containers are removed from the node',
  white_list: 'everything that clients may run and reach',
  keep: 'without which the programs that the daemon keeps end',
  'upgrade.signedBy': 'without which any program may become the daemon',
};

/** Returns which guarded keys have content. */
export function presentKeys(config: WinsConfig): Readonly<Record<GuardedKey, boolean>> {
  const { systemAgent, csiProxy, hostNetwork, keep, upgrade } = config;
  return {
    systemagent: systemAgent !== undefined,
    'csi-proxy': csiProxy !== undefined,
    hostNetwork: hostNetwork !== undefined,
    white_list: entriesOf(config).size > 0,
    keep: keep.length > 0,
    'upgrade.signedBy': upgrade.signedBy !== undefined,
  };
}

/**
 * Returns the guarded keys that only the previous config has. The whitelist counts as dropped if the new whitelist has none of the old entries.
 * This comparison leaves out upgrade helpers (`mayBreakAway`). If the old whitelist had only helpers, it counts as dropped when the new
 * whitelist is empty. Programs are compared by path only.
 */
export function droppedKeys(before: WinsConfig, after: WinsConfig): readonly GuardedKey[] {
  const [had, has] = [presentKeys(before), presentKeys(after)];
  return GUARDED_KEYS.filter((key) =>
    key === 'white_list' ? isWhiteListDropped(before, after) : had[key] && !has[key],
  );
}

/** Returns a list such as `systemagent (which follows the plans of the node), …`. */
export function describeLosses(keys: readonly GuardedKey[]): string {
  return keys.map((key) => `${key} (${LOSSES[key]})`).join(', ');
}

function isWhiteListDropped(before: WinsConfig, after: WinsConfig): boolean {
  const helpers = new Set([...helpersOf(before), ...helpersOf(after)]);
  const [old, now] = [entriesOf(before), entriesOf(after)];
  const used = [...old].filter((entry) => !helpers.has(entry));
  if (used.length === 0) return old.size > 0 && now.size === 0;
  return used.every((entry) => !now.has(entry));
}

function entriesOf({ whiteList }: WinsConfig): ReadonlySet<string> {
  const { processPaths, proxyPorts, proxyUdpPorts } = whiteList;
  const paths = processPaths.map(({ path }) => folded(path));
  return new Set([
    ...paths,
    ...proxyPorts.map(String),
    ...proxyUdpPorts.map((port) => `udp ${port}`),
  ]);
}

function helpersOf({ whiteList }: WinsConfig): string[] {
  return whiteList.processPaths
    .filter(({ mayBreakAway }) => mayBreakAway === true)
    .map(({ path }) => folded(path));
}

/** Folds a path as Windows does. Safe on other systems, because only comparisons of configs use the result. */
export function folded(path: string): string {
  return path.replaceAll('\\', '/').toLowerCase();
}
