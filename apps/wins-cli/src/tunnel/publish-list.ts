import { UsageError } from '@wins/base';
import { parsePort } from './parse-port.js';

export interface PublishedPort {
  readonly protocol: 'TCP' | 'UDP';
  readonly containerPort: number;
  readonly hostPort: number;
}

const WANTED =
  'wanted TCP:port, TCP:first-last or TCP:container-port:host-port, or the same with UDP';

function parseRange(text: string, entry: string): { first: number; last: number } {
  const [firstText = '', lastText, ...more] = text.split('-');
  const first = parsePort(firstText, entry);
  const last = lastText === undefined ? first : parsePort(lastText, entry);
  if (more.length > 0 || last < first)
    throw new UsageError(`"${entry}": the range must rise from its first port to its last`);
  return { first, last };
}

function parseEntry(entry: string): PublishedPort[] {
  const [name = '', containerText = '', hostText = containerText, ...more] = entry.split(':');
  const protocol = name.toUpperCase();
  const isKnown = protocol === 'TCP' || protocol === 'UDP';
  if (!isKnown || containerText === '' || more.length > 0)
    throw new UsageError(`"${entry}" is not a port to publish; ${WANTED}`);
  const container = parseRange(containerText, entry);
  const host = parseRange(hostText, entry);
  if (host.last - host.first !== container.last - container.first)
    throw new UsageError(`"${entry}": both ranges must have the same number of ports`);
  return Array.from({ length: container.last - container.first + 1 }, (_, index) => ({
    protocol,
    containerPort: container.first + index,
    hostPort: host.first + index,
  }));
}

/** Parses `TCP:80`, `TCP:80-81` or `TCP:8080:9796` (container port, host port). @throws UsageError that names the entry and its fault. */
export function parsePublished(entries: readonly string[]): PublishedPort[] {
  const published = new Map<string, PublishedPort>();
  for (const entry of entries) {
    for (const port of parseEntry(entry)) {
      const key = `${port.protocol} ${port.containerPort}`;
      const earlier = published.get(key);
      if (earlier !== undefined && earlier.hostPort !== port.hostPort)
        throw new UsageError(
          `"${entry}": port ${port.containerPort} already forwards to host port ${earlier.hostPort}; ` +
            'wanted one host port for each',
        );
      published.set(key, port);
    }
  }
  if (published.size === 0) throw new UsageError(`no port is given; ${WANTED}`);
  return [...published.values()];
}
