import { GUARDED_KEYS, type GuardedKey } from '@wins/base';
import { settingAt } from '../parse/settings-of.js';
import type { WinsConfig } from '../gen/wins-config.js';

/** Returns the guarded keys that have content. */
export function presentKeys(config: WinsConfig): ReadonlySet<GuardedKey> {
  return new Set(
    GUARDED_KEYS.filter((key) =>
      key === 'white_list' ? entriesOf(config).size > 0 : hasContent(settingAt(config, key)),
    ),
  );
}

/**
 * Returns the guarded keys that only the previous config has. The whitelist counts as dropped if the new whitelist has none of the old entries.
 * This comparison leaves out upgrade helpers (`mayBreakAway`). If the old whitelist had only helpers, it counts as dropped when the new
 * whitelist is empty. Programs are compared by path only.
 */
export function droppedKeys(before: WinsConfig, after: WinsConfig): readonly GuardedKey[] {
  const [had, has] = [presentKeys(before), presentKeys(after)];
  return GUARDED_KEYS.filter((key) =>
    key === 'white_list' ? isWhiteListDropped(before, after) : had.has(key) && !has.has(key),
  );
}

/** Whether a value is neither absent nor an empty list. */
function hasContent(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined;
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
