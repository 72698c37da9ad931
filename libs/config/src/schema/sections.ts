/** Sections that configure a node. The file is longer than most, because these sections share several rules. */
import {
  overlap,
  parseAddress,
  parseListenAddress,
  parseNetwork,
  type IpNetwork,
} from '@wins/base';
import * as z from 'zod/mini';
import { noted } from './notation.js';
import {
  checked,
  count,
  flag,
  isRouteNetwork,
  list,
  matching,
  off,
  optional,
  port,
  required,
  section,
  sha256,
  shown,
  someText,
  text,
  withDefault,
} from './value-schemas.js';

const LISTEN_ADDRESS = 'an IP address and a port, such as 127.0.0.1:9797';
const LOOPBACK = 'a loopback address, or allowRemote: true';

export function metricsSection() {
  return optional(
    section({
      listen: required(
        shown(
          someText(LISTEN_ADDRESS).check(
            z.refine((text) => parseListenAddress(text) !== undefined, { error: LISTEN_ADDRESS }),
          ),
        ),
        'Address that serves metrics over HTTP, such as 127.0.0.1:9797.',
      ),
      allowRemote: withDefault(flag(), false, 'Allow an address that other hosts can reach.', {
        unread: 'the schema reads it, to judge `listen`.',
      }),
    }).check(
      z.refine(
        ({ listen, allowRemote }) =>
          allowRemote || parseListenAddress(listen)?.isLoopback !== false,
        { error: LOOPBACK, path: ['listen'] },
      ),
    ),
    'Metrics for Prometheus. Absent: the daemon keeps no metrics and opens no port.',
    { absent: 'off', typeName: 'MetricsSettings' },
  );
}

const since = '0.1.2';

export function systemAgentSection() {
  const option = (meaning: string) => withDefault(flag(), false, meaning, { since });
  const path = (meaning: string, onSystemDrive = true) =>
    optional(shown(text()), meaning, { since, onSystemDrive });
  return optional(
    section({
      localEnabled: option('Apply plans from localPlanDirectory.'),
      remoteEnabled: option('Apply plans from Rancher.'),
      preserveWorkDirectory: option('Keep the working folder of a plan after it was applied.'),
      workDirectory: path(
        'Folder for executions of plans; by default /var/lib/rancher/agent/work, on drive C: on Windows.',
      ),
      localPlanDirectory: path('Folder of local plans; by default "plans" beside "work".'),
      appliedPlanDirectory: path('Folder of applied plans; by default "applied" beside "work".'),
      connectionInfoFile: path(
        'File with the connection to Rancher; by default rancher2_connection_info.json beside work.',
      ),
      imagesDirectory: path(
        'Folder of images that need no download; by default "images" beside "work".',
      ),
      agentRegistriesFile: path(
        'File that configures registries; by default the files of Rancher, RKE2 and K3s are tried.',
      ),
      imageCredentialProviderConfig: path(
        "The kubelet's configuration of credential providers. Absent: none.",
        false,
      ),
      imageCredentialProviderBinDirectory: path('Folder of the credential providers.', false),
      interlockDirectory: path('Accepted but has no effect, as in the Go releases.', false),
    }),
    'The embedded system-agent. Absent: off.',
    { since, absent: 'off', typeName: 'SystemAgentSettings' },
  );
}

export function csiProxySection() {
  return optional(
    section({
      url: required(
        someText('a download address'),
        'Download address of the archive; %s, %v or %[1]s stands for the version.',
        { since, shown: 'address' },
      ),
      version: required(shown(someText('a version')), 'The version to install, such as v1.1.3.', {
        since,
      }),
      kubeletPath: required(
        shown(someText('a path')),
        'The folder of the kubelet. A path that ends in .exe, as Rancher writes it, has no effect.',
        { since, onSystemDrive: true },
      ),
      sha256: optional(
        shown(sha256()),
        'Required SHA-256 digest of the archive. ' +
          "Absent: that of the version's first download, which must use TLS.",
        { absent: 'the first download' },
      ),
      args: optional(
        list(someText('an argument'), 'arguments'),
        'Additional arguments of the service, such as -v=4.',
        { absent: 'none', shown: 'count' },
      ),
      path: optional(
        shown(text()),
        'The folder of the releases; by default csi-proxy beside the config.',
        { onSystemDrive: true },
      ),
    }),
    'The csi-proxy service to install. Absent: none; a csi-proxy that wins installed is removed.',
    { since, absent: 'none', typeName: 'CsiProxySettings' },
  );
}

const MAX_ROUTES = 1000;
const CLOUDS = ['aws', 'azure', 'gce', 'rancher'] as const;
const TOO_MANY_ROUTES = `at most ${MAX_ROUTES} routes`;
const ROUTED = 'an IPv4 network other than the default route, or an IPv4 address';
const GATEWAY = 'an IPv4 address';

const CONTAINERS = 'an IPv4 network with a prefix of 16 to 29 bits, and no bit set below it';
const GATEWAY_IN = 'an address of a host in the subnet';
const PUBLISHED =
  'false, or hostNetwork.subnet beside it, because published ports lead only into that subnet';
const CLUSTER = 'a list of networks that contains the subnet';
const MAX_CLUSTER = 8;
const MAX_RELAYS = 512;
const TOO_MANY_RELAYS = `at most ${MAX_RELAYS} ports`;
const ENDPOINT = 'an IPv4 address and a port from 1 to 65535, such as 0.0.0.0:8080';

/** Accepts only the canonical `IPV4:PORT`: no leading zero, no name, no range. */
function isEndpoint(written: string): boolean {
  const [address = '', port = '', ...more] = written.split(':');
  if (more.length > 0 || !/^[1-9][0-9]{0,4}$/.test(port) || Number(port) > 65_535) return false;
  const isCanonical = /^(?:0|[1-9][0-9]{0,2})(?:\.(?:0|[1-9][0-9]{0,2})){3}$/.test(address);
  return isCanonical && parseAddress(address)?.length === 4;
}

function relayedPort() {
  const endpoint = (meaning: string) => required(shown(checked(isEndpoint, ENDPOINT)), meaning);
  const keys = section({
    proto: required(z.enum(['tcp', 'udp'], { error: 'tcp or udp' }), 'The protocol: tcp or udp.'),
    listen: endpoint('Address and port on which the host listens, such as 0.0.0.0:8080.'),
    to: endpoint('Address and port of the container, such as 192.168.100.10:80.'),
    allowReserved: off(
      'Whether it may listen on a port that host services commonly use, such as 22, 3389 or 6443.',
    ),
    allowHost: off(
      'Whether it may lead to the host itself, including ports that only the host can reach, such as 127.0.0.1:9796.',
    ),
  });
  return noted(keys, { typeName: 'HostPortSettings' });
}

function isIpv4Network(written: string): boolean {
  return isRouteNetwork(written) && parseNetwork(written)?.bytes.length === 4;
}

const UUID = /^[a-z0-9](?:[-a-z0-9]{0,62}[a-z0-9])?$/i;
const LOCAL = /^(?:169\.254|127\.\d{1,3})\.\d{1,3}\.\d{1,3}$/;
const SERVICE = 'a link-local or loopback address, with or without a port, such as 169.254.169.250';

/** Link-local and loopback addresses only: Rancher's metadata is plain HTTP, so no other host may answer. */
function isMetadataAddress(written: string): boolean {
  const { host = '', port = 0 } =
    parseListenAddress(written.includes(':') ? written : `${written}:80`) ?? {};
  return port > 0 && LOCAL.test(host);
}

function metadataKeys() {
  const uuid = (what: string) => required(shown(matching(UUID, 'a uuid')), what);
  return section({
    hostUuid: uuid('UUID of this host. Answers for another host are rejected.'),
    environmentUuid: uuid(
      'UUID of the environment. Hosts and containers of other environments are ignored.',
    ),
    address: withDefault(
      shown(checked(isMetadataAddress, SERVICE)),
      '169.254.169.250',
      'Address of the service.',
    ),
    routerIp: optional(
      ipv4Address(GATEWAY),
      'Required value of the label router_ip of this host. Absent: any.',
    ),
    ports: off(
      'Relay the published ports of containers of this host. Targets must be in the subnet.',
    ),
  });
}

function nodesKeys() {
  return section({
    enabled: withDefault(flag(), true, 'Whether the nodes are read.'),
    kubeconfig: optional(
      shown(someText('a path')),
      'Kubeconfig of the cluster whose nodes are read, an absolute path. It must contain its credentials, and may run no program. ' +
        "Absent: the system agent's connection to its API server.",
      { absent: "the system agent's connection", onSystemDrive: true },
    ),
  });
}

function containersNetwork() {
  const isFit = (written: string): boolean => {
    const { prefix = 0 } = parseNetwork(written) ?? {};
    return isIpv4Network(written) && written.includes('/') && prefix >= 16 && prefix <= 29;
  };
  return shown(checked(isFit, CONTAINERS));
}

function ipv4Address(expected: string) {
  return shown(checked((written) => parseAddress(written)?.length === 4, expected));
}

function holds(range: IpNetwork | undefined, one: IpNetwork): boolean {
  return range !== undefined && range.prefix <= one.prefix && overlap(range, one);
}

/** Whether an address is in a subnet, and is neither the first nor the last address there. */
function isHostOf(subnet: string, gateway: string): boolean {
  const own = parseNetwork(subnet);
  const address = parseNetwork(gateway);
  if (own === undefined || address === undefined || !overlap(own, address)) return false;
  const host = (bytes: Uint8Array) => bytes.reduce((sum, byte) => sum * 256 + byte, 0);
  const at = host(address.bytes) - host(own.bytes);
  return at > 0 && at < 2 ** (32 - own.prefix) - 1;
}

export function hostNetworkSection() {
  const route = section({
    destination: required(
      shown(checked(isIpv4Network, ROUTED)),
      'Network or address, such as 10.42.1.0/24.',
    ),
    gateway: optional(
      ipv4Address(GATEWAY),
      'Next hop, reached directly by an interface. Absent: the next hop of the default route.',
      { absent: 'the default gateway' },
    ),
    interface: optional(
      shown(someText('the name of an interface')),
      'Interface of the route, even if no route leads to the gateway there. Absent: the interface that reaches the gateway.',
      { absent: 'found by the gateway' },
    ),
    metric: withDefault(
      count('a metric', 9999),
      256,
      'Metric. The route with the lowest metric wins.',
    ),
  });
  const peer = section({
    subnet: required(containersNetwork(), 'Container network of that host, such as 10.42.2.0/24.'),
    via: required(
      ipv4Address(GATEWAY),
      'Address of that host, in a network that it shares with this host.',
    ),
  });
  return optional(
    section({
      routes: withDefault(
        list(route, 'routes').check(z.maxLength(MAX_ROUTES, { error: TOO_MANY_ROUTES })),
        [],
        'Routes of this host.',
      ),
      keep: withDefault(
        shown(list(z.enum(CLOUDS, { error: 'aws, azure, gce or rancher' }), 'clouds')),
        [],
        'Clouds whose metadata and platform addresses get routes. ' +
          'The routes for rancher lead to containers of this host.',
      ),
      metadata: optional(
        metadataKeys(),
        "Routes to the other hosts that Rancher's metadata service lists. Absent: none.",
        { absent: 'none', typeName: 'HostMetadataSettings' },
      ),
      nodes: optional(
        nodesKeys(),
        'Routes to the subnets of the other nodes of the cluster: true, or the kubeconfig of the cluster. ' +
          'With true, the API server that sends the system agent its plans lists them. Absent: none.',
        // A key that is ignored could make the daemon read another cluster.
        {
          absent: 'none',
          shorthand: 'enabled',
          strictKeys: true,
          typeName: 'HostNodesSettings',
        },
      ),
      probePort: optional(
        port(),
        'A TCP port that the doctor dials on each other host. Absent: none.',
        { absent: 'none' },
      ),
      subnet: optional(
        containersNetwork(),
        "Network of this host's own containers, such as 10.42.1.0/24. Its name is wins-subnet.",
        { absent: 'none' },
      ),
      gateway: optional(ipv4Address(GATEWAY_IN), 'The address of this host in the subnet.', {
        absent: 'the first address',
      }),
      cluster: optional(
        shown(
          list(checked(isIpv4Network, ROUTED), 'networks').check(
            z.maxLength(MAX_CLUSTER, { error: `at most ${MAX_CLUSTER} networks` }),
          ),
        ),
        "Networks that must contain the peers' subnets, and that containers of this host may reach.",
        { absent: 'private networks; required with subnet' },
      ),
      peers: withDefault(
        list(peer, 'peers').check(z.maxLength(MAX_ROUTES, { error: TOO_MANY_ROUTES })),
        [],
        'Other hosts. Each is the next hop to its own containers.',
      ),
      ports: withDefault(
        list(relayedPort(), 'ports').check(z.maxLength(MAX_RELAYS, { error: TOO_MANY_RELAYS })),
        [],
        'Ports of this host that are relayed to containers.',
      ),
    }).check(
      z.refine(
        ({ subnet, gateway }) =>
          gateway === undefined || (subnet !== undefined && isHostOf(subnet, gateway)),
        { error: GATEWAY_IN, path: ['gateway'] },
      ),
      z.refine(
        ({ subnet, cluster = [] }) => {
          const own = parseNetwork(subnet ?? '');
          return own === undefined || cluster.some((text) => holds(parseNetwork(text), own));
        },
        { error: CLUSTER, path: ['cluster'] },
      ),
      z.refine(({ metadata, subnet }) => metadata?.ports !== true || subnet !== undefined, {
        error: PUBLISHED,
        path: ['metadata', 'ports'],
      }),
    ),
    'Routes, ports and a container network that the daemon maintains on the host, and removes when they are no longer configured. Absent: none.',
    { absent: 'none', typeName: 'HostNetworkSettings' },
  );
}

export function tlsSection() {
  const inFirst = { since: '0.2.4' };
  return optional(
    section({
      insecure: optional(flag(), 'Accept any certificate. Requires csi-proxy.sha256.', inFirst),
      certFilePath: optional(
        shown(text()),
        'PEM file of authorities in addition to those of the system.',
        { ...inFirst, onSystemDrive: true },
      ),
    }),
    'TLS of the csi-proxy download.',
    { ...inFirst, typeName: 'TlsSettings' },
  );
}

export function agentStrictTlsMode() {
  return withDefault(
    flag(),
    false,
    'Make the system-agent trust only the CA in its connectionInfoFile.',
    { since: '0.4.18' },
  );
}
