import { GUARDED_KEYS, type GuardedKey } from '@wins/wins-program';

/** As much of a config as is guarded; a `WinsConfig` is one. */
export interface GuardedParts {
  /** Only its presence counts. */
  readonly systemAgent?: object | undefined;
  /** Only its presence counts. */
  readonly csiProxy?: object | undefined;
  readonly whiteList: {
    readonly processPaths: readonly { readonly path: string; readonly mayBreakAway?: boolean }[];
    readonly proxyPorts: readonly number[];
  };
}

/** What a node has by each key. */
const LOSSES: Readonly<Record<GuardedKey, string>> = {
  systemagent: 'which follows the plans of the node',
  'csi-proxy': 'without which csi-proxy is removed from the node',
  white_list: 'all that clients may run and reach',
};

/**
 * Which guarded keys a config lacks that was preceded by another. Pure.
 *
 * The whitelist counts as dropped when none of its entries is left: programs are compared by path, whatever their digests and grants.
 * Upgrade helpers (`mayBreakAway`) count only in a list of nothing else, because a config that lists the helper alone allows nothing to
 * those who work on the node.
 */
export function droppedKeys(before: GuardedParts, after: GuardedParts): readonly GuardedKey[] {
  const isDropped: Readonly<Record<GuardedKey, boolean>> = {
    systemagent: before.systemAgent !== undefined && after.systemAgent === undefined,
    'csi-proxy': before.csiProxy !== undefined && after.csiProxy === undefined,
    white_list: isWhiteListDropped(before, after),
  };
  return GUARDED_KEYS.filter((key) => isDropped[key]);
}

/** The guarded parts alone, without any setting: what a note on disk needs to know. Pure. */
export function guardedParts({ systemAgent, csiProxy, whiteList }: GuardedParts): GuardedParts {
  return {
    ...(systemAgent !== undefined && { systemAgent: {} }),
    ...(csiProxy !== undefined && { csiProxy: {} }),
    whiteList: {
      processPaths: whiteList.processPaths.map(({ path, mayBreakAway = false }) => ({
        path,
        ...(mayBreakAway && { mayBreakAway }),
      })),
      proxyPorts: whiteList.proxyPorts,
    },
  };
}

/** `systemagent (which follows the plans of the node), …`: keys with what goes with them. */
export function describeLosses(keys: readonly GuardedKey[]): string {
  return keys.map((key) => `${key} (${LOSSES[key]})`).join(', ');
}

function isWhiteListDropped(before: GuardedParts, after: GuardedParts): boolean {
  const helpers = new Set([...helpersOf(before), ...helpersOf(after)]);
  const [old, now] = [entriesOf(before), entriesOf(after)];
  const used = [...old].filter((entry) => !helpers.has(entry));
  if (used.length === 0) return old.size > 0 && now.size === 0;
  return used.every((entry) => !now.has(entry));
}

function entriesOf({ whiteList }: GuardedParts): ReadonlySet<string> {
  const { processPaths, proxyPorts } = whiteList;
  return new Set([...processPaths.map(({ path }) => folded(path)), ...proxyPorts.map(String)]);
}

function helpersOf({ whiteList }: GuardedParts): string[] {
  return whiteList.processPaths
    .filter(({ mayBreakAway }) => mayBreakAway === true)
    .map(({ path }) => folded(path));
}

/** Windows compares paths so; elsewhere two paths that differ in nothing else are taken for one here, which allows nothing. */
export function folded(path: string): string {
  return path.replaceAll('\\', '/').toLowerCase();
}
