import {
  listenTcp,
  TunnelError,
  type ListenTcpOptions,
  type TcpListener,
  type TunnelErrorCode,
} from '@wins/tcp-tunnel';
import { errnoOf, EXIT } from '@wins/base';
import { CommandError } from '../command-error.js';
import type { PublishedPort } from './publish-list.js';

const ALL_ADDRESSES = '::';
const ALL_IPV4_ADDRESSES = '0.0.0.0';

const ADVICE: Readonly<Partial<Record<TunnelErrorCode, string>>> = {
  addressInUse: 'stop that program, or publish under another port with TCP:other:PORT',
  listenFailed: 'is the address of --listen-address one of this container?',
  addressDenied: 'publish under a port above 1023 with TCP:other:PORT, or use another user',
};

/**
 * Listens on a published port.
 *
 * @param address - A literal address; undefined means all, IPv6 included where the system has it.
 * @throws CommandError that names the port and says what to do.
 */
export async function publishPort(
  { containerPort: port, hostPort }: PublishedPort,
  address: string | undefined,
  options: Pick<ListenTcpOptions, 'open' | 'onRefused' | 'maxConnections'>,
): Promise<TcpListener> {
  try {
    try {
      return await listenTcp({ host: address ?? ALL_ADDRESSES, port, ...options });
    } catch (error) {
      if (address !== undefined || !isWithoutIpv6(error)) throw error;
      return await listenTcp({ host: ALL_IPV4_ADDRESSES, port, ...options });
    }
  } catch (error) {
    if (!(error instanceof TunnelError)) throw error;
    const advice = ADVICE[error.code]?.replace('PORT', String(hostPort));
    const end = advice === undefined ? '' : ` (${advice})`;
    throw new CommandError(
      `cannot publish port ${port}: ${error.message}${end}`,
      EXIT.client.failed,
      {
        cause: error,
      },
    );
  }
}

function isWithoutIpv6(error: unknown): boolean {
  const code = error instanceof TunnelError ? errnoOf(error.cause) : undefined;
  return code === 'EAFNOSUPPORT' || code === 'EADDRNOTAVAIL';
}
