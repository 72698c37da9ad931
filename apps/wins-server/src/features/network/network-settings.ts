import type { HostMetadataSettings, WinsConfig } from '@wins/config';
import type { Cloud, DesiredRoute } from '@wins/host-network';
import { agentSettings, isOff } from '../agent/agent-settings.js';

/** Routes that the host should have, and who else tells of some; with no key, routes of an earlier section are removed. */
export interface NetworkSettings {
  readonly routes: readonly DesiredRoute[];
  readonly keep: readonly Cloud[];
  /** Absent: Rancher's metadata service is not asked. */
  readonly metadata?: HostMetadataSettings;
  /** Absent: no API server is asked. Without a file there is none. */
  readonly nodes?: { readonly connectionInfoFile?: string; readonly isStrict: boolean };
}

type NetworkConfig = Pick<WinsConfig, 'hostNetwork' | 'systemAgent' | 'agentStrictTlsMode'>;

/** Reads what the section wants, in one form for what is written in several. */
export function networkSettings(config: NetworkConfig): NetworkSettings {
  const { hostNetwork } = config;
  const routes = (hostNetwork?.routes ?? []).map(
    ({ destination, gateway, interface: through, metric }): DesiredRoute => ({
      destination: destination.includes('/') ? destination : `${destination}/32`,
      ...(gateway !== undefined && { gateway }),
      ...(through !== undefined && { interface: through }),
      metric,
    }),
  );
  const { keep = [], metadata, nodes = false } = hostNetwork ?? {};
  return {
    ...{ routes, keep },
    ...(metadata !== undefined && { metadata }),
    ...(nodes && { nodes: connectionOf(config) }),
  };
}

export function wantsNothing({ routes, keep, metadata, nodes }: NetworkSettings): boolean {
  const hasSource = metadata !== undefined || nodes !== undefined;
  return routes.length === 0 && keep.length === 0 && !hasSource;
}

function connectionOf(config: NetworkConfig): NonNullable<NetworkSettings['nodes']> {
  const agent = agentSettings(config);
  if (isOff(agent)) return { isStrict: true };
  const { connectionInfoFile, isStrict } = agent;
  return { isStrict, ...(connectionInfoFile !== undefined && { connectionInfoFile }) };
}
