import { CommandError } from '../command-error.js';
import type { PublishedPort } from './publish-list.js';

/** Listen addresses that the daemon reaches when it dials its loopback. */
const REACHED_BY_LOOPBACK: ReadonlySet<string | undefined> = new Set([
  undefined,
  '::',
  '0.0.0.0',
  '127.0.0.1',
  '::1',
]);

/**
 * Refuses a host port on which this program itself listens. Call this only if the daemon shares this program's network. That daemon would connect
 * back to this program, and each connection would cause another one.
 * @throws CommandError that names the first such port and a remedy.
 */
export function assertNoLoop(ports: readonly PublishedPort[], address: string | undefined): void {
  if (!REACHED_BY_LOOPBACK.has(address)) return;
  const published = new Set(ports.map((port) => `${port.protocol} ${port.containerPort}`));
  const loop = ports.find(({ protocol, hostPort }) => published.has(`${protocol} ${hostPort}`));
  if (loop === undefined) return;
  const { protocol, containerPort, hostPort } = loop;
  throw new CommandError(
    `cannot publish port ${containerPort}: the daemon runs on this host, where host port ${hostPort} is this command itself, so ` +
      `connections would loop. Run this in a container with its own network, or publish another port: ${protocol}:OTHER:${hostPort}`,
  );
}
