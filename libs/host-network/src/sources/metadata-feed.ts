import { HostNetworkError } from '../host-network-error.js';
import { MAX_PEERS, type DesiredPeer } from '../plan/judge-peers.js';
import { groupsBy, shownDuplicates } from './duplicates.js';
import { ElementList, readPeer, type DuplicatePeer, type ElementFault } from './element-list.js';
import {
  fieldsOf,
  followMetadata,
  mismatch,
  type Fields,
  type MetadataServiceOptions,
} from './metadata-service.js';
import type { Feed } from './source.js';

/** Address of Rancher's metadata service, and the labels that identify this host's network there. */
export interface MetadataFeedOptions extends MetadataServiceOptions {
  /**
   * Values that the labels `subnet` and `router_ip` of this host must have in the metadata. If a field is absent, its label is
   * not checked.
   */
  readonly subnet?: string | undefined;
  readonly routerIp?: string | undefined;
}

const LABELS = 'io.rancher.network.per_host_subnet';

/** Feed of the other hosts, from Rancher's metadata service. */
export function metadataFeed(options: MetadataFeedOptions): Feed {
  return followMetadata(options, '/hosts', async (pass) => {
    const list = new ElementList<DesiredPeer>(MAX_PEERS);
    let own: Fields | undefined;
    await pass((host) => {
      if (host === undefined) list.skip('badElement');
      else if (host['uuid'] === options.hostUuid) own = host;
      else if (host['environment_uuid'] === options.environmentUuid)
        list.add(host['uuid'], readHost(host));
    });
    checkOwn(own, options);
    const gathered = list.result();
    const duplicates = duplicatesIn(gathered.items);
    return { ...gathered, ...(duplicates.length > 0 && { duplicates }) };
  });
}

/** Reports hosts that share a next hop. The service does not say which of them exist. */
function duplicatesIn(peers: readonly DesiredPeer[]): readonly DuplicatePeer[] {
  const groups = groupsBy(peers, ({ nextHop }) => nextHop);
  return shownDuplicates(
    groups.flatMap(([first, ...more]) =>
      more.map(({ id }) => ({ id, of: first?.id, isStale: false })),
    ),
  );
}

function readHost(host: Fields): DesiredPeer | ElementFault {
  const labels = fieldsOf(host['labels']) ?? {};
  const hops = [
    labels[`${LABELS}.router_ip`],
    labels[`${LABELS}.override_agent_ip`],
    host['agent_ip'],
  ];
  const nextHop = hops.find((hop) => hop !== undefined && hop !== null && hop !== '');
  return readPeer(host['uuid'], labels[`${LABELS}.subnet`], nextHop);
}

/** @throws HostNetworkError `badSource`: this host is missing, or its labels differ from the config. */
function checkOwn(own: Fields | undefined, options: MetadataFeedOptions): void {
  if (own === undefined)
    throw new HostNetworkError('badSource', 'cannot use the hosts: this host is not among them');
  const labels = fieldsOf(own['labels']) ?? {};
  const { environmentUuid, subnet, routerIp } = options;
  const wanted = [
    ['the environment', own['environment_uuid'], environmentUuid, 'metadata.environmentUuid'],
    ['the subnet', labels[`${LABELS}.subnet`], subnet, 'subnet'],
    ['the router_ip', labels[`${LABELS}.router_ip`], routerIp, 'metadata.routerIp'],
  ] as const;
  for (const [what, found, value, key] of wanted)
    if (value !== undefined && found !== value) throw mismatch(what, found, value, key);
}
