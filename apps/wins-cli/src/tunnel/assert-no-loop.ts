import { CommandError } from '../command-error.js';
import type { PublishedPort } from './publish-list.js';

/** The listeners that a daemon reaches when it dials its loopback. */
const REACHED_BY_LOOPBACK: ReadonlySet<string | undefined> = new Set([
  ...[undefined, '::', '0.0.0.0', '127.0.0.1', '::1'],
]);

/**
 * Refuses ports that would lead to this very program: the daemon dials the loopback of its host, and on that host this is where
 * they are published. Each connection would come back as a new one, until no stream is left.
 *
 * @param address - Where they are published; undefined means everywhere.
 * @throws CommandError that names the first of them and says what to do.
 */
export function assertNoLoop(ports: readonly PublishedPort[], address: string | undefined): void {
  if (!REACHED_BY_LOOPBACK.has(address)) return;
  const published = new Set(ports.map((port) => `${port.protocol} ${port.containerPort}`));
  const loop = ports.find(({ protocol, hostPort }) => published.has(`${protocol} ${hostPort}`));
  if (loop === undefined) return;
  const { protocol, containerPort, hostPort } = loop;
  throw new CommandError(
    `cannot publish port ${containerPort}: found the daemon on this very host, where host port ${hostPort} is this command itself, so ` +
      `that each connection would come back; wanted a container with a network of its own, or another port: ${protocol}:OTHER:${hostPort}`,
  );
}
