/** Access to the API server whose nodes are other hosts: by a kubeconfig, or by the connection of the system agent. */
import type { NodeReader } from '@wins/host-network';
import type { Kubeconfig } from '@wins/net';
import { nodeReader, readConnectionInfo, readKubeconfig } from '@wins/system-agent';
import type { FileTrust } from '@wins/trusted-files';
import { unwatchFile, watchFile } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
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
 * Returns a function that reads the file of the access and connects by it. A watch of the connection ends when the file has other
 * content, because a server does not end a watch whose token has expired.
 */
export function connectToNodes(
  nodes: NodesSettings,
  { trust, onWarning }: NodeAccessParts,
): () => Promise<NodeReader> {
  const { kubeconfig, isStrict } = nodes;
  const file = accessFileOf(nodes);
  const read = (path: string): Promise<Kubeconfig> =>
    kubeconfig === undefined ? readConnectionInfo(path, trust) : readKubeconfig(path, trust);
  return async () => {
    if (file === undefined) {
      const message =
        'cannot list the nodes: the agent has no API server. Set systemagent.remoteEnabled, or hostNetwork.nodes.kubeconfig';
      throw new FeatureError('unavailable', message);
    }
    const used = await read(file);
    // Like kubectl, trusts only the authority of a kubeconfig that has one.
    const strictTls = isStrict || (kubeconfig !== undefined && used.access.ca !== undefined);
    const reader = nodeReader(used, { strictTls, onWarning });
    const isReplaced = async (): Promise<boolean> => {
      try {
        return !isDeepStrictEqual((await read(file)).access, used.access);
      } catch {
        // Another process may be writing the file.
        return false;
      }
    };
    return {
      list: (onNode, signal) => reader.list(onNode, signal),
      watch: async (version, onEvent, signal) => {
        using replaced = whenReplaced(file, isReplaced);
        const until = AbortSignal.any([signal, replaced.signal]);
        try {
          await reader.watch(version, onEvent, until);
        } catch (error) {
          if (!replaced.signal.aborted) throw error;
        }
      },
      [Symbol.dispose]: () => reader[Symbol.dispose](),
    };
  };
}

/** Aborts its signal once the file has other content. */
function whenReplaced(file: string, isReplaced: () => Promise<boolean>) {
  const controller = new AbortController();
  const look = (): void => {
    void isReplaced().then((is) => {
      if (is) controller.abort();
    });
  };
  watchFile(file, { interval: LOOK_EVERY_MS, persistent: false }, look);
  // The file may have changed since it was read.
  look();
  return { signal: controller.signal, [Symbol.dispose]: () => unwatchFile(file, look) };
}
