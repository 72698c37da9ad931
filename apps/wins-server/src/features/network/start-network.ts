/** Composition root of the host network. Loaded when the config has, or had, routes. */
import type { HostRoutes } from '@wins/base';
import { getServers } from 'node:dns';
import {
  cloudRoutes,
  HostNetwork,
  routeRecords,
  SourceSet,
  type DesiredNetwork,
  type DesiredPeer,
  type HostNetworkOptions,
  type NamedSourceStatus,
} from '@wins/host-network';
import path from 'node:path';
import type { FileTrust } from '@wins/trusted-files';
import { FeatureError } from '../../kernel/feature-error.js';
import type { NetworkSettings } from './network-settings.js';
import { wantedSources, type SourceName } from './peer-sources.js';

export interface NetworkParts extends Pick<
  HostNetworkOptions,
  'beforeSteps' | 'onStatus' | 'onWarning'
> {
  readonly recordFile: string;
  readonly trust: FileTrust;
  readonly onSource: (status: NamedSourceStatus<SourceName>) => void;
}

export interface StartedNetwork {
  readonly kept: HostNetwork;
  readonly sources: Pick<SourceSet<SourceName>, 'statuses'>;
  configure(settings: NetworkSettings): void;
  [Symbol.asyncDispose](): Promise<void>;
}

/** @throws FeatureError `unavailable` on systems other than Windows and Linux. */
export async function startNetwork(
  { recordFile, trust, onSource, ...parts }: NetworkParts,
  settings: NetworkSettings,
): Promise<StartedNetwork> {
  const host = await hostRoutes();
  const records = routeRecords({
    path: recordFile,
    trust,
    host,
    onDamaged: (file) =>
      parts.onWarning(
        `${file} is damaged and is replaced; the routes that it names are left alone`,
      ),
  });
  let current = settings;
  const { onWarning } = parts;
  const sources: SourceSet<SourceName> = new SourceSet({
    folder: path.dirname(recordFile),
    trust,
    onWarning,
    onChange: (status) => {
      kept.want(wanted(), { staysDown: true });
      onSource(status);
    },
  });
  sources.configure(wantedSources(settings, { trust, onWarning }));
  const wanted = (): DesiredNetwork => ({
    ...desiredBy(current),
    peers: withoutRepeats([...sources.peers, ...(current.peers ?? [])]),
    holds: sources.holds,
  });
  const kept = new HostNetwork({ ...parts, host, records }, wanted());
  return {
    kept,
    sources,
    configure: (next) => {
      current = next;
      sources.configure(wantedSources(next, { trust, onWarning }));
      kept.want(wanted());
    },
    [Symbol.asyncDispose]: async () => {
      await sources.close();
      await kept.close();
    },
  };
}

/** Removes duplicate peers. A peer of the config takes precedence over a peer of a source. */
function withoutRepeats(peers: readonly DesiredPeer[]): readonly DesiredPeer[] {
  return [...new Map(peers.map((one) => [`${one.subnet} ${one.nextHop}`, one])).values()];
}

/** A route of the config takes precedence over a cloud route to the same address. No route may redirect a resolver of the host. */
function desiredBy(settings: NetworkSettings): DesiredNetwork {
  const { keep, metadata: _metadata, nodes: _nodes, ...wanted } = settings;
  return {
    ...wanted,
    reserved: [...(wanted.reserved ?? []), ...getServers()],
    routes: [...cloudRoutes(keep), ...wanted.routes],
  };
}

async function hostRoutes(): Promise<HostRoutes> {
  // The bundler replaces process.platform by a constant, so each bundle contains the code of one system only.
  if (process.platform === 'win32') {
    return (await import('@wins/windows-host')).windowsHostRoutes();
  } else if (process.platform === 'linux') {
    return (await import('@wins/linux-host')).linuxHostRoutes();
  }
  throw new FeatureError('unavailable', 'routes cannot be changed on this system');
}
