import type { ExposedPort } from '@wins/wins-program';
import { WindowsError } from '../windows-error.js';

/** Ports that follow each other. */
export interface PortRange {
  readonly first: number;
  readonly last: number;
}

/** The ranges of each protocol, in rising order and apart from each other. */
export interface PortSet {
  readonly tcp: readonly PortRange[];
  readonly udp: readonly PortRange[];
}

// A rule with so many can still be read by people, and its text fits into a command line.
const MAX_RANGES = 256;

/**
 * Sorts ports into ranges.
 *
 * @throws WindowsError `invalidArgument` for what is no port, and for more than 256 ranges of a protocol.
 */
export function portSet(ports: readonly ExposedPort[]): PortSet {
  const set = { tcp: new Set<number>(), udp: new Set<number>() };
  for (const { protocol, port } of ports) {
    const known = Object.hasOwn(set, protocol);
    if (known && Number.isInteger(port) && port >= 1 && port <= 65_535) set[protocol].add(port);
    else throw refused(JSON.stringify({ protocol, port }), 'tcp or udp and a port from 1 to 65535');
  }
  return { tcp: ranges(set.tcp), udp: ranges(set.udp) };
}

/** Joins ranges that touch or overlap. */
export function joinRanges(all: readonly PortRange[]): readonly PortRange[] {
  const joined: PortRange[] = [];
  for (const { first, last } of all.toSorted((a, b) => a.first - b.first)) {
    const before = joined.at(-1);
    if (before === undefined || first > before.last + 1) joined.push({ first, last });
    else joined[joined.length - 1] = { ...before, last: Math.max(before.last, last) };
  }
  return joined;
}

/** Writes `80,443,8000-8010`. */
export function formatRanges(all: readonly PortRange[]): string {
  return all.map(({ first, last }) => (first === last ? `${first}` : `${first}-${last}`)).join(',');
}

function ranges(ports: ReadonlySet<number>): readonly PortRange[] {
  const joined = joinRanges([...ports].map((port) => ({ first: port, last: port })));
  if (joined.length <= MAX_RANGES) return joined;
  throw refused(`${joined.length} ranges of ports`, `at most ${MAX_RANGES} of a protocol`);
}

function refused(found: string, wanted: string): WindowsError {
  const message = `opened ports of the firewall: found ${found}; wanted ${wanted}`;
  return new WindowsError('invalidArgument', message);
}
