import { readFileSync } from 'node:fs';
import type { Logger } from '../log/logger.js';
import { resourceTable, type ResourceName } from './resources.js';
import { Shares } from './shares.js';
import { repeatLog } from './repeat-counter.js';

export type DaemonResources = Readonly<Record<ResourceName, Shares>> & Disposable;

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
  const rows = Object.entries(resourceTable(descriptorLimit(), tunnels)).map(([name, row]) => {
    const shares = new Shares(row, ({ key, description: client }, why) => {
      if (TOLD_ELSEWHERE.has(name)) return;
      repeats.add(`${name} ${why} ${key}`, { resource: name, why, client });
    });
    return [name, shares] as const;
  });
  return {
    ...(Object.fromEntries(rows) as Record<ResourceName, Shares>),
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
