import type { ItemHost, ItemStore } from '@wins/installation';
import { parseServiceCommand } from '@wins/service-upgrade';
import type { Clock } from '@wins/time';
import type { FileTrust } from '@wins/trusted-files';
import { existsSync } from 'node:fs';
import { CsiProxyError } from './csi-proxy-error.js';
import type { CsiProxyNode } from './csi-proxy-system.js';
import { RUNNING, SERVICE } from './plan-csi-proxy.js';

const PROVE_MS = 30_000;
/** A pipe that exists this long after the end of csi-proxy belongs to another process. */
const FREE_MS = 5_000;
const LOOK_EVERY_MS = 250;

/** The service is proven by its pipe. Before a start, each process of an earlier one ends, and its pipe is gone. */
export function csiProxyHost(node: CsiProxyNode, trust: FileTrust, clock: Clock): ItemHost {
  const { service, running } = node.stores;
  const until = async (
    isSo: () => Promise<boolean>,
    ms: number,
    signal?: AbortSignal,
  ): Promise<boolean> => {
    const endMs = clock.now().getTime() + ms;
    while (!(await isSo())) {
      if (clock.now().getTime() >= endMs) return false;
      await clock.wait(LOOK_EVERY_MS, { signal });
    }
    return true;
  };
  const isFree = async (): Promise<boolean> => !(await node.isServing());
  const isWell = async (): Promise<boolean> =>
    (await node.isServing()) && (await running.read(RUNNING)) !== undefined;
  const prove: ItemHost['prove'] = async ({ signal } = {}) => {
    if (await until(isWell, PROVE_MS, signal)) return;
    throw new Error(
      `its pipe csi-proxy-filesystem-v1 did not appear within ${PROVE_MS / 1000} s. See csi-proxy.log`,
    );
  };
  const withLeftovers: ItemStore<'running'> = {
    read: (item) => running.read(item),
    write: async (item, state) => {
      await running.write(item, undefined, undefined);
      const program = programOf((await service.read(SERVICE))?.command);
      if (program !== undefined) await node.endLeftovers(program);
      if (state === undefined) return;
      if (!(await until(isFree, FREE_MS)))
        throw new CsiProxyError(
          'serviceFailed',
          'another process serves its pipe. Find out who runs csi-proxy.exe',
        );
      await running.write(item, state, undefined);
    },
  };
  return {
    platform: node.platform,
    strangersIn: (folder) => node.strangersIn(folder),
    stores: { ...node.stores, running: withLeftovers },
    trust,
    subject: 'csi-proxy',
    prove,
    answers: prove,
  };
}

export function programOf(command: string | undefined): string | undefined {
  return parseServiceCommand(command ?? '', existsSync)?.imagePath;
}
