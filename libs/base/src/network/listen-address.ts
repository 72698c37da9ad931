import { BlockList, isIP } from 'node:net';

/** Address to listen on: an IP address, never a host name, and a port. */
export interface ListenAddress {
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** Whether only this host can reach it. */
  readonly isLoopback: boolean;
}

const FORM = /^(?:\[([^\]]{1,64})\]|([0-9.]{1,64})):([0-9]{1,5})$/;
const MOST_PORT = 65_535;

/** Parses `127.0.0.1:9797` or `[::1]:9797`. Undefined for other text, because a host name may later resolve to another address. */
export function parseListenAddress(text: string): ListenAddress | undefined {
  const [, v6, v4, digits = ''] = FORM.exec(text) ?? [];
  const host = v6 ?? v4 ?? '';
  const port = Number(digits);
  if (isIP(host) !== (v6 === undefined ? 4 : 6) || host.includes('%') || port > MOST_PORT)
    return undefined;
  const loopback = new BlockList();
  loopback.addSubnet('127.0.0.0', 8, 'ipv4');
  loopback.addAddress('::1', 'ipv6');
  return { host, port, isLoopback: loopback.check(host, v6 === undefined ? 'ipv4' : 'ipv6') };
}
