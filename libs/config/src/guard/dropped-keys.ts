import { GUARDED_KEYS, type GuardedKey } from '@wins/base';
import { StateFile } from '@wins/files';
import { posixFileTrust } from '@wins/trusted-files';
import * as z from 'zod';
import type { ConfigTrust } from '../load/load-config.js';
import { translateFileError } from '../config-error.js';

/** Parts of a config that a new config must not silently lack. A complete `WinsConfig` also has this type. */
export interface GuardedParts {
  /** Only its presence counts. */
  readonly systemAgent?: object | undefined;
  /** Only its presence counts. */
  readonly csiProxy?: object | undefined;
  /** Only its presence counts. */
  readonly hostNetwork?: object | undefined;
  /** Only the presence of entries counts. Absent in records of earlier releases. */
  readonly keep?: readonly object[];
  /** Only the presence of `signedBy` counts. Absent in records of earlier releases. */
  readonly upgrade?: { readonly signedBy?: readonly object[] };
  readonly whiteList: {
    readonly processPaths: readonly { readonly path: string; readonly mayBreakAway?: boolean }[];
    readonly proxyPorts: readonly number[];
    /** Absent in records of earlier releases. */
    readonly proxyUdpPorts?: readonly number[];
  };
}

const LOSSES: Readonly<Record<GuardedKey, string>> = {
  systemagent: 'which follows the plans of the node',
  'csi-proxy': 'without which csi-proxy is removed from the node',
  hostNetwork: 'without which routes and the network of containers are removed from the node',
  white_list: 'everything that clients may run and reach',
  keep: 'without which the programs that the daemon keeps end',
  'upgrade.signedBy': 'without which any program may become the daemon',
};

/** Returns which guarded keys have content. */
export function presentKeys(parts: GuardedParts): Readonly<Record<GuardedKey, boolean>> {
  const { systemAgent, csiProxy, hostNetwork, keep = [], upgrade } = parts;
  return {
    systemagent: systemAgent !== undefined,
    'csi-proxy': csiProxy !== undefined,
    hostNetwork: hostNetwork !== undefined,
    white_list: entriesOf(parts).size > 0,
    keep: keep.length > 0,
    'upgrade.signedBy': upgrade?.signedBy !== undefined,
  };
}

/**
 * Returns the guarded keys that only the previous config has. The whitelist counts as dropped if the new whitelist has none of the old entries.
 * This comparison leaves out upgrade helpers (`mayBreakAway`). If the old whitelist had only helpers, it counts as dropped when the new
 * whitelist is empty. Programs are compared by path only.
 */
export function droppedKeys(before: GuardedParts, after: GuardedParts): readonly GuardedKey[] {
  const [had, has] = [presentKeys(before), presentKeys(after)];
  return GUARDED_KEYS.filter((key) =>
    key === 'white_list' ? isWhiteListDropped(before, after) : had[key] && !has[key],
  );
}

/** Reduces a config to what {@link droppedKeys} compares, for a record on disk. */
export function guardedParts(parts: GuardedParts): GuardedParts {
  const { systemAgent, csiProxy, hostNetwork, keep = [], upgrade, whiteList } = parts;
  return {
    ...(systemAgent !== undefined && { systemAgent: {} }),
    ...(csiProxy !== undefined && { csiProxy: {} }),
    ...(hostNetwork !== undefined && { hostNetwork: {} }),
    ...(keep.length > 0 && { keep: [{}] }),
    ...(upgrade?.signedBy && { upgrade: { signedBy: [{}] } }),
    whiteList: {
      processPaths: whiteList.processPaths.map(({ path, mayBreakAway = false }) => ({
        path,
        ...(mayBreakAway && { mayBreakAway }),
      })),
      proxyPorts: whiteList.proxyPorts,
      proxyUdpPorts: whiteList.proxyUdpPorts ?? [],
    },
  };
}

/** Returns a list such as `systemagent (which follows the plans of the node), …`. */
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
  const { processPaths, proxyPorts, proxyUdpPorts = [] } = whiteList;
  const paths = processPaths.map(({ path }) => folded(path));
  return new Set([
    ...paths,
    ...proxyPorts.map(String),
    ...proxyUdpPorts.map((port) => `udp ${port}`),
  ]);
}

function helpersOf({ whiteList }: GuardedParts): string[] {
  return whiteList.processPaths
    .filter(({ mayBreakAway }) => mayBreakAway === true)
    .map(({ path }) => folded(path));
}

/** Folds a path as Windows does. Safe on other systems, because only comparisons of configs use the result. */
export function folded(path: string): string {
  return path.replaceAll('\\', '/').toLowerCase();
}

const MAX_BYTES = 4096;
const EXPECTED = 'a folder in which the file can be replaced';

const permissionSchema = z.object({ sha256: z.string(), allowDrop: z.array(z.unknown()) });

/**
 * Permits a config with this SHA-256 (lower-case hex) to drop keys. Writes `FILE.allow-drop` beside the config, so that the
 * permission survives a restart and works through a mount. Only users who may replace the config can write there. Replaces an
 * earlier permission; an empty list removes it.
 *
 * @throws ConfigError `accessDenied`, `notFound` (no folder), `unknown`.
 */
export async function permitDrops(
  config: string,
  sha256: string,
  keys: readonly string[],
): Promise<void> {
  const permission = permissionBeside(config);
  try {
    if (keys.length === 0) await permission.remove();
    else await permission.write({ sha256, allowDrop: keys });
  } catch (error) {
    throw translateFileError(error, permission.path, EXPECTED);
  }
}

/**
 * Returns the keys that a config with this SHA-256 may drop, as the file `FILE.allow-drop` beside the config permits.
 * If that file is missing, unreadable or not trusted, the config may drop no key.
 */
export async function permittedDrops(
  config: string,
  sha256: string | undefined,
  trust: ConfigTrust = posixFileTrust(),
): Promise<readonly GuardedKey[]> {
  if (sha256 === undefined) return [];
  const found = await permissionBeside(config, trust)
    .read()
    .catch(() => undefined);
  if (found?.sha256 !== sha256) return [];
  return GUARDED_KEYS.filter((key) => found.allowDrop.includes(key));
}

function permissionBeside(config: string, trust?: ConfigTrust) {
  return new StateFile({
    path: `${config}.allow-drop`,
    maxBytes: MAX_BYTES,
    trust,
    parse: (json) => permissionSchema.parse(json),
    damaged: () => undefined,
  });
}
