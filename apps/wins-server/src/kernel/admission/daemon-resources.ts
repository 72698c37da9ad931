import { readFileSync } from 'node:fs';
import type { Logger } from '../log/logger.js';
import { resourceTable, type ResourceName } from './resources.js';
import { Shares } from './shares.js';
import { tallyLog } from './tally.js';

/** Resources that clients of one daemon share. */
export type DaemonResources = Readonly<Record<ResourceName, Shares>> & Disposable;

/** Those who take these tell of them. */
const TOLD_ELSEWHERE: ReadonlySet<string> = new Set<ResourceName>([
  ...(['connections', 'handshakes', 'adminConnections', 'adminHandshakes'] as const),
  ...(['tunnels', 'tunnelHandshakes', 'relayed'] as const),
]);

/** Where Node has no figure: on Windows handles do not run out, and elsewhere this many are common. */
const USUAL_DESCRIPTORS = process.platform === 'win32' ? 65_536 : 4096;

/**
 * Makes what clients share, after the table. Claims that are refused or yield are in the log, as the first of a kind and the
 * number of the others. Disposing logs what was counted.
 *
 * @param tunnels - Sessions of the tunnel.
 */
export function daemonResources(logger: Logger, tunnels?: number): DaemonResources {
  const tally = tallyLog(logger, 'warn', 'a client has used its share of a resource');
  const rows = Object.entries(resourceTable(descriptorLimit(), tunnels)).map(([name, row]) => {
    const shares = new Shares(row, ({ key, description: client }, why) => {
      if (TOLD_ELSEWHERE.has(name)) return;
      tally.add(`${name} ${why} ${key}`, { resource: name, why, client });
    });
    return [name, shares] as const;
  });
  return {
    ...(Object.fromEntries(rows) as Record<ResourceName, Shares>),
    [Symbol.dispose]: () => tally[Symbol.dispose](),
  };
}

/** How many descriptors this process may have open: Node raises the limit to the hard one when it starts. */
function descriptorLimit(): number {
  try {
    const line = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'));
    return Number(line?.[1] ?? USUAL_DESCRIPTORS);
  } catch {
    return USUAL_DESCRIPTORS;
  }
}
