import { askQuietly } from '../daemon/ask-quietly.js';

/** More ports are not asked for, because each is a call. */
const ASKED_PORTS = 64;
const UNLISTED = 'port-not-listed';

export interface HostPort {
  readonly protocol: 'TCP' | 'UDP';
  readonly hostPort: number;
}

/**
 * Asks the daemon which of the first 64 ports it would refuse because its config does not list them. It tells no more than a refused connection does.
 *
 * @param server - The daemon's pipe, not the one of the tunnel.
 * @throws Error when no valid answer arrives before the signal aborts, for example from an older daemon.
 */
export function refusedPorts(
  server: string,
  ports: readonly HostPort[],
  signal: AbortSignal,
): Promise<readonly HostPort[]> {
  return askQuietly(server, signal, async ({ config }) => {
    const refused: HostPort[] = [];
    for (const port of ports.slice(0, ASKED_PORTS)) {
      const verdict = await config.explain({ port: port.hostPort }, { signal });
      const { code } = port.protocol === 'UDP' ? (verdict.udp ?? verdict) : verdict;
      if (code === UNLISTED) refused.push(port);
    }
    return refused;
  });
}
