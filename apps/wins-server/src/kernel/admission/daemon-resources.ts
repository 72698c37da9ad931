import { readFileSync } from 'node:fs';
import type { Logger } from '../log/logger.js';
import { resourceTable, type ResourceName, type ResourceRow } from './resources.js';
import { Shares } from './shares.js';
import { repeatLog } from './repeat-counter.js';

export interface FeatureResources {
  /** Returns the resource of a feature. The same row is always the same resource. */
  of(name: string, row: ResourceRow): Shares;
}

export type DaemonResources = Readonly<Record<ResourceName, Shares>> &
  FeatureResources &
  Disposable;

/** Resources whose refused and revoked claims are not logged here. The code that takes the claims logs them. */
const TOLD_ELSEWHERE: ReadonlySet<string> = new Set<ResourceName>([
  ...(['connections', 'handshakes', 'adminConnections', 'adminHandshakes'] as const),
  ...(['tunnels', 'tunnelHandshakes', 'relayed'] as const),
]);

/** For systems where the limit is unknown. Windows does not run out of handles; elsewhere 4,096 is common. */
const USUAL_DESCRIPTORS = process.platform === 'win32' ? 65_536 : 4096;

/**
 * Creates the resources that clients share. For each resource, client and reason, the log gets the first refused or revoked claim, then the number
 * of such claims that followed.
 */
export function daemonResources(logger: Logger, tunnels?: number): DaemonResources {
  const repeats = repeatLog(logger, 'warn', 'a client has used its share of a resource');
  const create = (name: string, row: ResourceRow): Shares =>
    new Shares(row, ({ key, description: client }, why) => {
      if (TOLD_ELSEWHERE.has(name)) return;
      repeats.add(`${name} ${why} ${key}`, { resource: name, why, client });
    });
  const table = Object.entries(resourceTable(descriptorLimit(), tunnels));
  const rows = table.map(([name, row]) => [name, create(name, row)] as const);
  const ofFeatures = new Map<ResourceRow, Shares>();
  return {
    ...(Object.fromEntries(rows) as Record<ResourceName, Shares>),
    of: (name, row) => {
      const shares = ofFeatures.get(row) ?? create(name, row);
      ofFeatures.set(row, shares);
      return shares;
    },
    [Symbol.dispose]: () => repeats[Symbol.dispose](),
  };
}

/** Returns the soft limit, which Node raises to the hard limit when it starts. */
function descriptorLimit(): number {
  try {
    const line = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'));
    return Number(line?.[1] ?? USUAL_DESCRIPTORS);
  } catch {
    return USUAL_DESCRIPTORS;
  }
}
