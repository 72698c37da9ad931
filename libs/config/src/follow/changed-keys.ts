import type { LoadedConfig } from '../load/load-config.js';
import type { WinsConfig } from '../wins-config.js';
import { isDeepStrictEqual } from 'node:util';

/** Settings that are read once, when the pipes are opened; their keys in the file have the same names. */
const READ_AT_START = [
  'listen',
  'proxy',
  'pipeAccess',
  'tunnel',
  'audit',
  'reflection',
] as const satisfies readonly (keyof WinsConfig)[];

/** What a config that came into force changed: key paths alone, never values. */
export interface ConfigChange {
  /** Lists as a whole. */
  readonly changed: readonly string[];
  /** Settings that have other values in the file than those in force since the start. */
  readonly needRestart: readonly string[];
}

/**
 * Compares a config with the one before it, and with the one of the start. Pure.
 */
export function changedKeys(
  next: LoadedConfig,
  before: LoadedConfig,
  atStart: LoadedConfig,
): ConfigChange {
  const [old, now] = [valuesOf(before), valuesOf(next)];
  const keys = new Set([...now.keys(), ...old.keys()]);
  return {
    changed: [...keys].filter((key) => !isDeepStrictEqual(old.get(key), now.get(key))),
    needRestart: READ_AT_START.filter(
      (key) => !isDeepStrictEqual(next.config[key], atStart.config[key]),
    ),
  };
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
