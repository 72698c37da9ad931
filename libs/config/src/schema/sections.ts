/**
 * Sections of the config that configure a node; those that Rancher writes are read as in earlier releases. Longer than
 * most files because each section is defined here once, with its keys, defaults and rules, and several rules are shared.
 */
import { isPlainAddress, overlap, parseAddress, parseListenAddress } from '@wins/base';
import { parseNetwork, type IpNetwork } from '@wins/base';
import * as z from 'zod';
import { about } from './notation.js';
import { checked, count, flag, isRouteNetwork, list, matching, off } from './value-schemas.js';
import { port, required, section, sha256, shown, someText, text } from './value-schemas.js';

const LISTEN_ADDRESS = 'an IP address and a port, such as 127.0.0.1:9797';
const LOOPBACK = 'an address of the loopback, or allowRemote: true';

export function metricsSection() {
  return about(
    section({
      listen: about(
        shown(someText(LISTEN_ADDRESS)).refine((text) => parseListenAddress(text) !== undefined, {
          error: LISTEN_ADDRESS,
        }),
        'Where metrics are served over HTTP: 127.0.0.1:9797.',
        { absent: 'required' },
      ),
      allowRemote: off('Serve metrics on an address that others on the network may reach.'),
    }).refine(
      ({ listen, allowRemote }) => allowRemote || parseListenAddress(listen)?.isLoopback !== false,
      { error: LOOPBACK, path: ['listen'] },
    ),
    'Metrics for Prometheus. Absent: none are kept, and no port is opened.',
    { absent: 'off' },
  ).optional();
}

const COLLECTOR_ADDRESS =
  'an address such as http://127.0.0.1:4318, without user, password, query and fragment';

export function tracingSection() {
  return about(
    section({
      endpoint: about(
        someText(COLLECTOR_ADDRESS).refine(isPlainAddress, { error: COLLECTOR_ADDRESS }),
        'Collector that takes spans by OTLP over HTTP: http://127.0.0.1:4318.',
        { absent: 'required', isSecret: true, shown: 'address' },
      ),
    }),
    'Traces of the calls of clients that trace. Absent: no span is made or sent.',
    { absent: 'off' },
  ).optional();
}

const since = '0.1.2';

export function systemAgentSection() {
  const option = (meaning: string) => about(flag(), meaning, { since }).default(false);
  const place = (meaning: string) => about(shown(text()), meaning, { since }).optional();
  return about(
    section({
      localEnabled: option('Apply plans from localPlanDirectory.'),
      remoteEnabled: option('Apply plans from Rancher.'),
      preserveWorkDirectory: option('Keep the working folder of a plan after it was applied.'),
      workDirectory: place(
        'Where executions have their folders; by default /var/lib/rancher/agent/work, on drive C: on Windows.',
      ),
      localPlanDirectory: place('Where local plans lie; by default plans beside work.'),
      appliedPlanDirectory: place(
        'Where plans that were applied are kept; by default applied beside work.',
      ),
      connectionInfoFile: place(
        'The file that says how to reach Rancher; by default rancher2_connection_info.json beside work.',
      ),
      imagesDirectory: place(
        'Where images lie that need no download; by default images beside work.',
      ),
      agentRegistriesFile: place(
        'The file that configures registries; by default those of Rancher, RKE2 and K3s are tried.',
      ),
      imageCredentialProviderConfig: place(
        "The kubelet's configuration of credential providers. Absent: none.",
      ),
      imageCredentialProviderBinDirectory: place('The folder of the programs that it names.'),
      interlockDirectory: place('Accepted but has no effect, as in the Go releases.'),
    }),
    'The embedded system-agent. Absent: off.',
    { since, absent: 'off' },
  ).optional();
}

export function csiProxySection() {
  const required = { since, absent: 'required' };
  return about(
    section({
      url: about(
        someText('a download address'),
        'Download address of the archive; %s, %v or %[1]s is the version.',
        { ...required, shown: 'address' },
      ),
      version: about(
        shown(someText('a version')),
        'The version to install, such as v1.1.3.',
        required,
      ),
      kubeletPath: about(
        shown(someText('a path')),
        'The folder of the kubelet. A path that ends in .exe, as Rancher writes it, has no effect.',
        required,
      ),
      sha256: about(
        shown(sha256()),
        'SHA-256 digest of the archive. Absent: that of the first download over TLS.',
        { absent: 'the first download' },
      ).optional(),
      args: about(
        list(someText('an argument'), 'arguments'),
        'More arguments of the service, each whole: -v=4.',
        { absent: 'none', shown: 'count' },
      ).optional(),
      path: about(
        shown(text()),
        'The folder of the releases; by default csi-proxy beside the config.',
      ).optional(),
    }),
    'The csi-proxy service to keep. Absent: none, and what wins has installed is removed.',
    { since, absent: 'none' },
  ).optional();
}

const MAX_ROUTES = 1000;
const CLOUDS = ['aws', 'azure', 'gce', 'rancher'] as const;
const TOO_MANY_ROUTES = `at most ${MAX_ROUTES} routes`;
const ROUTED = 'an IPv4 network that is no default route, or one address of IPv4';
const GATEWAY = 'an address of IPv4';

const CONTAINERS = 'an IPv4 network of 16 to 29 bits, without bits below its prefix';
const GATEWAY_IN = 'an address of a host in the subnet';
const PUBLISHED = 'false, or hostNetwork.subnet: published ports lead there alone';
const CLUSTER = 'a list of networks that the subnet is in';
const MAX_CLUSTER = 8;
const MAX_RELAYS = 512;
const TOO_MANY_RELAYS = `at most ${MAX_RELAYS} ports`;
const ENDPOINT = 'an address of IPv4 and a port from 1 to 65535, such as 0.0.0.0:8080';

/** Accepts one spelling only: no leading zero, no name, no range. */
function isEndpoint(written: string): boolean {
  const [address = '', port = '', ...more] = written.split(':');
  if (more.length > 0 || !/^[1-9][0-9]{0,4}$/.test(port) || Number(port) > 65_535) return false;
  const isCanonical = /^(?:0|[1-9][0-9]{0,2})(?:\.(?:0|[1-9][0-9]{0,2})){3}$/.test(address);
  return isCanonical && parseAddress(address)?.length === 4;
}

function relayedPort() {
  const endpoint = (meaning: string) => required(shown(checked(isEndpoint, ENDPOINT)), meaning);
  return section({
    proto: required(z.enum(['tcp', 'udp'], { error: 'tcp or udp' }), 'The protocol: tcp or udp.'),
    listen: endpoint('Where the host listens: 0.0.0.0:8080.'),
    to: endpoint('The address and port of the container: 192.168.100.10:80.'),
    allowReserved: off(
      'Whether it may listen on a port that services of hosts use, such as 22, 53 or 3389.',
    ),
    allowHost: off(
      'Whether it may lead to the host itself, such as 127.0.0.1:9796, and to what listens there alone.',
    ),
  });
}

function isIpv4Network(written: string): boolean {
  return isRouteNetwork(written) && parseNetwork(written)?.bytes.length === 4;
}

const UUID = /^[a-z0-9](?:[-a-z0-9]{0,62}[a-z0-9])?$/i;
const LOCAL = /^(?:169\.254|127\.\d{1,3})\.\d{1,3}\.\d{1,3}$/;
const SERVICE =
  'a link-local address or one of the loopback, with a port or without: 169.254.169.250';

/** Accepts link-local and loopback addresses only: Rancher's metadata is plain HTTP, so no other host may answer. */
function isMetadataAddress(written: string): boolean {
  const { host = '', port = 0 } =
    parseListenAddress(written.includes(':') ? written : `${written}:80`) ?? {};
  return port > 0 && LOCAL.test(host);
}

function metadataKeys() {
  const uuid = (what: string) => required(shown(matching(UUID, 'a uuid')), what);
  return section({
    hostUuid: uuid('The uuid of this host: answers for another one are not used.'),
    environmentUuid: uuid('The uuid of its environment; hosts of others are left out.'),
    address: about(shown(checked(isMetadataAddress, SERVICE)), 'Where the service is.').default(
      '169.254.169.250',
    ),
    routerIp: about(
      ipv4Address(GATEWAY),
      'The router_ip that the labels of this host must have. Absent: any.',
    ).optional(),
    ports: off('Relay the ports that containers of this host publish, to addresses in the subnet.'),
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

/** Whether one network contains another. */
function holds(range: IpNetwork | undefined, one: IpNetwork): boolean {
  return range !== undefined && range.prefix <= one.prefix && overlap(range, one);
}

/** Whether an address is a host address of a subnet: neither its first nor its last address. */
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
      'The network or address: 10.42.1.0/24.',
    ),
    gateway: about(
      ipv4Address(GATEWAY),
      'The next hop, in a network of the interface. Absent: that of the default route.',
      { absent: 'the default gateway' },
    ).optional(),
    interface: about(
      shown(someText('the name of an interface')),
      'The interface that it leads through. Absent: the one that reaches the gateway.',
      { absent: 'found by the gateway' },
    ).optional(),
    metric: about(count('a metric', 9999), 'The metric; of two routes the lower one wins.').default(
      256,
    ),
  });
  const peer = section({
    subnet: required(containersNetwork(), 'The network of its containers: 10.42.2.0/24.'),
    via: required(ipv4Address(GATEWAY), 'Its own address, in a network that this host is in too.'),
  });
  return about(
    section({
      routes: about(
        list(route, 'routes').max(MAX_ROUTES, { error: TOO_MANY_ROUTES }),
        'Routes of this host.',
      ).default([]),
      keep: about(
        shown(list(z.enum(CLOUDS, { error: 'aws, azure, gce or rancher' }), 'clouds')),
        'Clouds whose metadata and platform addresses keep their routes; those of rancher lead to own containers.',
      ).default([]),
      metadata: about(
        metadataKeys(),
        "Routes to the other hosts that Rancher's metadata service tells of. Absent: none.",
        { absent: 'none' },
      ).optional(),
      nodes: off(
        'Routes to the subnets of the other nodes that the API server of the agent tells of.',
      ),
      probePort: about(
        port(),
        'A TCP port that the doctor dials on each other host. Absent: none.',
        { absent: 'none' },
      ).optional(),
      subnet: about(
        containersNetwork(),
        "The network of this host's own containers, wins-subnet: 10.42.1.0/24.",
        { absent: 'none' },
      ).optional(),
      gateway: about(ipv4Address(GATEWAY_IN), 'The address of this host in the subnet.', {
        absent: 'the first address',
      }).optional(),
      cluster: about(
        shown(
          list(checked(isIpv4Network, ROUTED), 'networks').max(MAX_CLUSTER, {
            error: `at most ${MAX_CLUSTER} networks`,
          }),
        ),
        'Networks that subnets of peers lie in, and that own containers may reach.',
        { absent: 'private networks; required with subnet' },
      ).optional(),
      peers: about(
        list(peer, 'peers').max(MAX_ROUTES, { error: TOO_MANY_ROUTES }),
        'Other hosts, whose containers are reached through them.',
      ).default([]),
      ports: about(
        list(relayedPort(), 'ports').max(MAX_RELAYS, { error: TOO_MANY_RELAYS }),
        'Ports of this host that lead to containers.',
      ).default([]),
    })
      .refine(
        ({ subnet, gateway }) =>
          gateway === undefined || (subnet !== undefined && isHostOf(subnet, gateway)),
        { error: GATEWAY_IN, path: ['gateway'] },
      )
      .refine(
        ({ subnet, cluster = [] }) => {
          const own = parseNetwork(subnet ?? '');
          return own === undefined || cluster.some((text) => holds(parseNetwork(text), own));
        },
        { error: CLUSTER, path: ['cluster'] },
      )
      .refine(({ metadata, subnet }) => metadata?.ports !== true || subnet !== undefined, {
        error: PUBLISHED,
        path: ['metadata', 'ports'],
      }),
    'Routes, ports and a network of containers that the daemon keeps on the host, and removes when they are wanted no more. Absent: none.',
    { absent: 'none' },
  ).optional();
}

export function tlsSection() {
  const inFirst = { since: '0.2.4' };
  return about(
    section({
      insecure: about(
        flag(),
        'Accept any certificate; csi-proxy.sha256 is required then.',
        inFirst,
      ).optional(),
      certFilePath: about(
        shown(text()),
        'A PEM file of authorities besides those of the system.',
        inFirst,
      ).optional(),
    }),
    'TLS of the csi-proxy download.',
    inFirst,
  ).optional();
}

export function agentStrictTlsMode() {
  return about(flag(), 'The system-agent trusts only the CA it was given.', {
    since: '0.4.18',
  }).default(false);
}
