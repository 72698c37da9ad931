import { PROTOCOL_LIMITS } from '../wire/limits.js';

/** Rules of {@link judgeDestination}, in the order in which they are checked. */
export type DestinationRule =
  | 'address-length'
  | 'protocol-tcp'
  | 'host-loopback'
  | 'port-number'
  | 'port-not-listed';

/** Verdict on a Connect. `rule` is the rule that allows it (always `port-allowed`) or refuses it. */
export type DestinationVerdict =
  | {
      readonly allowed: true;
      readonly protocol: 'tcp' | 'udp';
      readonly port: number;
      readonly rule: 'port-allowed';
    }
  | { readonly allowed: false; readonly port?: number | undefined; readonly rule: DestinationRule };

const ADDRESS = /^([^/]*)\/(.*):([^:]*)$/s;
const LOOPBACK_NAMES: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);
const CANONICAL_PORT = /^[1-9][0-9]{0,4}$/;
const HIGHEST_PORT = 65_535;

/**
 * Judges the text of a Connect, such as `tcp/localhost:9796`. Allows only the protocols `tcp` and `udp`, the three
 * names of the loopback, and a listed port in its canonical spelling. The name has no further effect: an allowed port
 * is dialled at a literal loopback address.
 *
 * @param allowedUdpPorts - Absent for a peer that carries no datagrams; `udp` is then refused.
 */
export function judgeDestination(
  address: string,
  allowedPorts: ReadonlySet<number>,
  allowedUdpPorts?: ReadonlySet<number>,
): DestinationVerdict {
  if (Buffer.byteLength(address) > PROTOCOL_LIMITS.connectBytes) return refuse('address-length');
  const [, protocol, host, portText] = ADDRESS.exec(address) ?? [];
  if (protocol !== 'tcp' && protocol !== 'udp') return refuse('protocol-tcp');
  const allowed = protocol === 'tcp' ? allowedPorts : allowedUdpPorts;
  if (allowed === undefined) return refuse('protocol-tcp');
  if (host === undefined || !LOOPBACK_NAMES.has(host)) return refuse('host-loopback');
  const port = CANONICAL_PORT.test(portText ?? '') ? Number(portText) : Number.NaN;
  if (!(port <= HIGHEST_PORT)) return refuse('port-number');
  if (!allowed.has(port)) return { allowed: false, port, rule: 'port-not-listed' };
  return { allowed: true, protocol, port, rule: 'port-allowed' };
}

export function isTcpPort(value: number): boolean {
  return Number.isInteger(value) && value >= 1 && value <= HIGHEST_PORT;
}

function refuse(rule: DestinationRule): DestinationVerdict {
  return { allowed: false, rule };
}
