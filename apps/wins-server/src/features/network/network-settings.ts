import type { HostMetadataSettings, HostNodesSettings, WinsConfig } from '@wins/config';
import type { Cloud, DesiredNetwork, DesiredRoute } from '@wins/host-network';
import path from 'node:path';
import { isOff } from '../../kernel/feature.js';
import { agentSettings, type AgentConfig } from '../agent/agent-settings.js';
import { ownSubnet } from '../host-network/own-subnet.js';

/** The file lists the items that wins created. */
export function recordFileIn(stateDirectory: string): string {
  return path.join(stateDirectory, 'host-network.json');
}

/** Items that the daemon created are removed once the config no longer has them. */
export interface NetworkSettings extends DesiredNetwork {
  readonly keep: readonly Cloud[];
  /** Absent: Rancher's metadata service is not queried. */
  readonly metadata?: Omit<HostMetadataSettings, 'ports'>;
  /** Absent: no API server is queried. */
  readonly nodes?: NodesSettings;
}

/** Without a file, each query fails, because no API server is known. */
export interface NodesSettings {
  /** Takes precedence over `connectionInfoFile`. */
  readonly kubeconfig?: string;
  readonly connectionInfoFile?: string;
  readonly isStrict: boolean;
}

type NetworkConfig = Pick<WinsConfig, 'hostNetwork'> & AgentConfig;

export function networkSettings(config: NetworkConfig): NetworkSettings {
  const { routes = [], keep = [], peers = [], cluster, metadata, nodes } = config.hostNetwork ?? {};
  const own = ownSubnet(config);
  return {
    routes: routes.map((route): DesiredRoute => ({
      ...route,
      destination: withPrefix(route.destination),
    })),
    keep,
    peers: peers.map(({ subnet, via }) => ({ id: via, subnet, nextHop: via })),
    ...(cluster !== undefined && { cluster: cluster.map(withPrefix) }),
    ...(metadata !== undefined && { metadata: withoutPorts(metadata) }),
    ...(nodes?.enabled === true && { nodes: nodesSettings(nodes, config) }),
    ...(own !== undefined && { own }),
  };
}

export function wantsNothing(settings: NetworkSettings): boolean {
  const { routes, keep, peers = [], own, metadata, nodes } = settings;
  const hasParts = [own, metadata, nodes].some((part) => part !== undefined);
  return routes.length + keep.length + peers.length === 0 && !hasParts;
}

function nodesSettings({ kubeconfig }: HostNodesSettings, config: NetworkConfig): NodesSettings {
  if (kubeconfig !== undefined) return { kubeconfig, isStrict: config.agentStrictTlsMode };
  const agent = agentSettings(config);
  if (isOff(agent)) return { isStrict: true };
  const { connectionInfoFile, isStrict } = agent;
  return { isStrict, ...(connectionInfoFile !== undefined && { connectionInfoFile }) };
}

/** Omits `ports`, because another feature relays published ports. */
function withoutPorts({ ports: _ports, ...service }: HostMetadataSettings) {
  return service;
}

function withPrefix(network: string): string {
  return network.includes('/') ? network : `${network}/32`;
}
