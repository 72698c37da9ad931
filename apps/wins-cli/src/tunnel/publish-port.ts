import {
  listenTcp,
  listenUdp,
  TunnelError,
  type ListenTcpOptions,
  type ListenUdpOptions,
  type TcpListener,
  type TunnelErrorCode,
  type UdpListener,
} from '@wins/tcp-tunnel';
import { errnoOf, EXIT } from '@wins/base';
import { CommandError } from '../command-error.js';
import type { PublishedPort } from './publish-list.js';

const ALL_ADDRESSES = '::';
const ALL_IPV4_ADDRESSES = '0.0.0.0';

const OTHER_PORT = 'publish it under another port with PROTOCOL:other:PORT';
const ADVICE: Readonly<Partial<Record<TunnelErrorCode, string>>> = {
  addressInUse: `stop that program, or ${OTHER_PORT}`,
  listenFailed: 'check that --listen-address is an address of this container',
  // Only Linux denies a port because of the user.
  addressDenied:
    process.platform === 'win32'
      ? OTHER_PORT
      : 'publish it under a port above 1023 with PROTOCOL:other:PORT, or run as another user',
};

/** @throws CommandError that names the port and a remedy. */
export async function publishPort(
  published: PublishedPort,
  address: string | undefined,
  options: Pick<ListenTcpOptions, 'open' | 'onRefused' | 'maxConnections'>,
): Promise<TcpListener> {
  const port = published.containerPort;
  return listenAnywhere(published, address, (host) => listenTcp({ host, port, ...options }));
}

export async function publishUdpPort(
  published: PublishedPort,
  address: string | undefined,
  options: Pick<ListenUdpOptions, 'open' | 'onRefused' | 'addresses' | 'onProblems'>,
): Promise<UdpListener> {
  const port = published.containerPort;
  return listenAnywhere(published, address, (host) => listenUdp({ host, port, ...options }));
}

async function listenAnywhere<Listener>(
  { protocol, containerPort: port, hostPort }: PublishedPort,
  address: string | undefined,
  listen: (host: string) => Promise<Listener>,
): Promise<Listener> {
  try {
    try {
      return await listen(address ?? ALL_ADDRESSES);
    } catch (error) {
      if (address !== undefined || !isWithoutIpv6(error)) throw error;
      return await listen(ALL_IPV4_ADDRESSES);
    }
  } catch (error) {
    if (!(error instanceof TunnelError)) throw error;
    const advice = ADVICE[error.code]
      ?.replace('PROTOCOL', protocol)
      .replace('PORT', String(hostPort));
    const end = advice === undefined ? '' : ` (${advice})`;
    throw new CommandError(
      `cannot publish port ${port}: ${error.message}${end}`,
      EXIT.client.failed,
      { cause: error },
    );
  }
}

function isWithoutIpv6(error: unknown): boolean {
  const code = error instanceof TunnelError ? errnoOf(error.cause) : undefined;
  return code === 'EAFNOSUPPORT' || code === 'EADDRNOTAVAIL';
}
