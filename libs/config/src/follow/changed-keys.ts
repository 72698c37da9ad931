import type { LoadedConfig } from '../load/load-config.js';
import { isDeepStrictEqual } from 'node:util';

/**
 * Compares a config with the one before it. Pure.
 *
 * @returns the key paths that have other values, lists as a whole; never values.
 */
export function changedKeys(next: LoadedConfig, before: LoadedConfig): readonly string[] {
  const [old, now] = [valuesOf(before), valuesOf(next)];
  const keys = new Set([...now.keys(), ...old.keys()]);
  return [...keys].filter((key) => !isDeepStrictEqual(old.get(key), now.get(key)));
}

/** A list has an origin for each entry. */
function valuesOf({ origins }: LoadedConfig): ReadonlyMap<string, readonly unknown[]> {
  const values = new Map<string, unknown[]>();
  for (const { key, value } of origins) {
    const list = key.replace(/\[\d+\]$/, '');
    const known = values.get(list);
    // An empty list has one origin.
    const entries = Array.isArray(value) && value.length === 0 ? [] : [value];
    if (known === undefined) values.set(list, entries);
    else known.push(...entries);
  }
  return values;
}
