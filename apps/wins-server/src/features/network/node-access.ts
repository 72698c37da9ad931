/** Access to the API server whose nodes are other hosts: by a kubeconfig, or by the connection of the system agent. */
import type { NodeReader } from '@wins/host-network';
import type { Kubeconfig } from '@wins/net';
import { nodeReader, readConnectionInfo, readKubeconfig } from '@wins/system-agent';
import { systemClock } from '@wins/time';
import type { FileTrust } from '@wins/trusted-files';
import { unwatchFile, watchFile } from 'node:fs';
import { FeatureError } from '../../kernel/feature-error.js';
import type { NodesSettings } from './network-settings.js';

export { judgeKubeconfigFile } from '@wins/system-agent';

export interface NodeAccessParts {
  readonly trust: FileTrust;
  readonly onWarning: (problem: string) => void;
}

const LOOK_EVERY_MS = 5_000;

export function accessFileOf(nodes: NodesSettings | undefined): string | undefined {
  return nodes?.kubeconfig ?? nodes?.connectionInfoFile;
}

/**
 * Returns a reader that connects by the file of the access, and again by other content of the file, because a server does not end a
 * watch whose token has expired.
 */
export function readerOfNodes(
  nodes: NodesSettings,
  { trust, onWarning }: NodeAccessParts,
): NodeReader {
  const { kubeconfig, isStrict } = nodes;
  const file = accessFileOf(nodes);
  const readInfo = async (): Promise<Kubeconfig> => {
    if (kubeconfig !== undefined) return await readKubeconfig(kubeconfig, trust);
    if (file !== undefined) return await readConnectionInfo(file, trust);
    const message =
      'cannot list the nodes: the agent has no API server. Set systemagent.remoteEnabled, or hostNetwork.nodes.kubeconfig';
    throw new FeatureError('unavailable', message);
  };
  return nodeReader({
    clock: systemClock,
    readInfo,
    ...(file !== undefined && { watchInfo: (look) => watchContent(file, look) }),
    // Like kubectl, trusts only the authority of a kubeconfig that has one.
    strictTlsOf: ({ access }) => isStrict || (kubeconfig !== undefined && access.ca !== undefined),
    onWarning,
  });
}

function watchContent(file: string, look: () => void): Disposable {
  watchFile(file, { interval: LOOK_EVERY_MS, persistent: false }, look);
  return { [Symbol.dispose]: () => unwatchFile(file, look) };
}
