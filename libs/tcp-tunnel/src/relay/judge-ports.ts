import { overlap, parseNetwork, type IpNetwork } from '@wins/base';

/** A port of this host, and where it leads. Addresses are IPv4 literals with a port. */
export interface PortRule {
  readonly proto: 'tcp' | 'udp';
  /** IPv4 literal and port, such as `0.0.0.0:8080`. */
  readonly listen: string;
  readonly to: string;
}

/** A port to relay, with the exceptions that its requester has. */
export interface WantedPort extends PortRule {
  /** Allows to listen on a port that is reserved for services of the host. */
  readonly allowReserved: boolean;
  /** Allows this host itself as the target. */
  readonly allowHost: boolean;
}

/** Facts about this host by which `PortRelays.want` refuses ports. */
export interface PortFacts {
  /** IPv4 literals. */
  readonly ownAddresses: readonly string[];
  /** Ports on which this program listens. */
  readonly ownPorts: readonly number[];
  /** Container network of this host, such as 192.168.100.0/24. Absent: unknown. */
  readonly subnet?: string | undefined;
}

/** An IP literal and a port. */
export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

export interface JudgedPort {
  readonly wanted: WantedPort;
  readonly listen: Endpoint;
  readonly to: Endpoint;
  readonly refusal?: string | undefined;
}

/**
 * Port ranges of host services: SSH, DNS, RPC, SMB, container engines, etcd, RDP, WinRM, the Kubernetes API, Rancher, the host metrics of Rancher
 * monitoring, the kubelet, and the health of kube-proxy.
 */
const RESERVED: readonly (readonly [number, number])[] = [
  [22, 22],
  [53, 53],
  [135, 135],
  [139, 139],
  [445, 445],
  [2375, 2377],
  [2379, 2380],
  [3389, 3389],
  [5985, 5986],
  [6443, 6443],
  [9345, 9345],
  [9796, 9796],
  [10250, 10250],
  [10256, 10256],
];
/** Address of Rancher's metadata service on each host. */
const METADATA: Endpoint = { host: '169.254.169.250', port: 80 };
const ANY = '0.0.0.0';
const LOOPBACK = networkOfText('127.0.0.0/8');
/** Networks without containers: unspecified, link-local (with cloud metadata), multicast and reserved. */
const NEVER = ['0.0.0.0/8', '169.254.0.0/16', '224.0.0.0/3'].map(networkOfText);

/** Refuses the later of two ports with the same listen address. Pure. */
export function judgePorts(ports: readonly WantedPort[], facts: PortFacts) {
  const judged: JudgedPort[] = [];
  for (const wanted of ports) {
    const [listen, to] = [endpointOf(wanted.listen), endpointOf(wanted.to)];
    const owner = judged.find(
      (other) =>
        other.refusal === undefined &&
        other.wanted.proto === wanted.proto &&
        other.listen.port === listen.port &&
        (other.listen.host === listen.host || [other.listen.host, listen.host].includes(ANY)),
    );
    const refusal =
      owner === undefined
        ? (judgeListen(wanted, listen, facts) ?? judgeTarget(wanted, to, facts))
        : `${owner.wanted.listen} to ${owner.wanted.to} already uses this port`;
    judged.push({ wanted, listen, to, refusal });
  }
  return judged;
}

/**
 * Returns settings for published ports, all without the permissions `allowReserved` and `allowHost`. Ports that were already accepted come first,
 * because `judgePorts` refuses the later of two conflicting ports. Otherwise the order by container UUID remains. Pure.
 */
export function publishedPorts(
  published: readonly PortRule[],
  before: readonly (PortRule & { readonly state: string })[],
): readonly WantedPort[] {
  const textOf = ({ proto, listen, to }: PortRule): string => `${proto} ${listen} ${to}`;
  const relayed = new Set(before.filter(({ state }) => state !== 'rejected').map(textOf));
  const ports = published.map(({ proto, listen, to }): WantedPort => ({
    proto,
    listen,
    to,
    allowReserved: false,
    allowHost: false,
  }));
  const isRelayed = (port: WantedPort): boolean => relayed.has(textOf(port));
  return [...ports.filter(isRelayed), ...ports.filter((port) => !isRelayed(port))];
}

function judgeListen(
  { proto, allowReserved }: WantedPort,
  { host, port }: Endpoint,
  { ownPorts }: PortFacts,
): string | undefined {
  // The daemon and a relay cannot both listen on one port, whatever the permissions.
  if (proto === 'tcp' && ownPorts.includes(port)) return 'the daemon itself listens on this port';
  if (allowReserved) return undefined;
  const isReserved =
    RESERVED.some(([first, last]) => port >= first && port <= last) ||
    (host === METADATA.host && port === METADATA.port);
  return isReserved ? `port ${port} is reserved for services of the host` : undefined;
}

function judgeTarget(
  { allowHost }: WantedPort,
  { host }: Endpoint,
  { ownAddresses, subnet }: PortFacts,
): string | undefined {
  const address = networkOfText(host);
  if (NEVER.some((network) => overlap(network, address)))
    return `${host} is not an address of a container`;
  if (overlap(LOOPBACK, address) || ownAddresses.includes(host))
    return allowHost ? undefined : `${host} is this host itself`;
  if (subnet === undefined) return undefined;
  const network = networkOfText(subnet);
  if (!overlap(network, address)) return `${host} is outside of the subnet ${subnet}`;
  return isEnd(network, address) ? `${host} is not an address of a container` : undefined;
}

/** Reports whether the address is the first of the network (the network address) or the last (the broadcast address). */
function isEnd({ bytes, prefix }: IpNetwork, { bytes: address }: IpNetwork): boolean {
  const most = 2 ** (32 - prefix) - 1;
  const at = Buffer.from(address).readUInt32BE() - Buffer.from(bytes).readUInt32BE();
  return at === 0 || at === most;
}

function endpointOf(text: string): Endpoint {
  const [host = '', port] = text.split(':');
  return { host, port: Number(port) };
}

function networkOfText(text: string): IpNetwork {
  const network = parseNetwork(text);
  if (network === undefined) throw new TypeError(`${text} is not a network`);
  return network;
}
