/** Sources that report other hosts. Each has a config key. */
import { metadataFeed, nodeFeed, type WantedSource } from '@wins/host-network';
import type { FileTrust } from '@wins/trusted-files';
import { hostname, networkInterfaces } from 'node:os';
import { accessFileOf, readerOfNodes } from './node-access.js';
import type { NetworkSettings } from './network-settings.js';

export type SourceSettings = Pick<NetworkSettings, 'metadata' | 'nodes' | 'own'>;

export type SourceName = 'metadata' | 'nodes';

interface PeerSourcesParts {
  readonly trust: FileTrust;
  /** Default: the addresses of this host, except loopback addresses. */
  readonly ownAddresses?: () => ReadonlySet<string>;
  readonly onWarning: (problem: string) => void;
}

/** Returns the sources that the config wants. */
export function wantedSources(
  settings: SourceSettings,
  { trust, onWarning, ownAddresses = reachableAddresses }: PeerSourcesParts,
): ReadonlyMap<SourceName, WantedSource> {
  const { metadata, nodes } = settings;
  const subnet = ownSubnet(settings);
  const wanted = new Map<SourceName, WantedSource>();
  if (metadata !== undefined) {
    const { address, environmentUuid, hostUuid } = metadata;
    const origin = [address, environmentUuid, hostUuid].join(' ');
    const source = { ...metadata, ...subnet };
    wanted.set('metadata', {
      settings: source,
      open: () => ({ feed: metadataFeed(source), origin }),
    });
  }
  if (nodes !== undefined) {
    const open = () => {
      const reader = readerOfNodes(nodes, { trust, onWarning });
      const feed = nodeFeed({ reader, ownAddresses, hostName: hostname(), ...subnet });
      return { feed, origin: accessFileOf(nodes) ?? '' };
    };
    wanted.set('nodes', { settings: { ...nodes, ...subnet }, open });
  }
  return wanted;
}

/** Returns the subnet that a source must report for this host. */
function ownSubnet({ own }: SourceSettings): { readonly subnet?: string } {
  return own === undefined ? {} : { subnet: own.subnet };
}

function reachableAddresses(): ReadonlySet<string> {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return new Set(all.filter(({ internal }) => !internal).map(({ address }) => address));
}
