import type { Clock } from '@wins/time';
import type { FileTrust } from '@wins/trusted-files';
import { InstallError } from '../install-error.js';
import type { ItemHost, ItemStore } from '../ports.js';
import { runningOf, type KeptServiceKind, type ServiceNode } from './service-node.js';

const PROVE_MS = 30_000;
/** A pipe that exists this long after the end of the service belongs to another process. */
const FREE_MS = 5_000;
const LOOK_EVERY_MS = 250;

/** The service is proven by its pipe. Before a start, each process of an earlier one ends, and its pipe is gone. */
export function serviceHost(
  node: ServiceNode,
  kind: KeptServiceKind,
  trust: FileTrust,
  clock: Clock,
): ItemHost {
  const { service, running } = node.stores;
  const until = async (
    isSo: () => Promise<boolean>,
    ms: number,
    signal?: AbortSignal,
  ): Promise<boolean> => {
    const endMs = clock.monotonicMs() + ms;
    while (!(await isSo())) {
      if (clock.monotonicMs() >= endMs) return false;
      await clock.wait(LOOK_EVERY_MS, { signal });
    }
    return true;
  };
  const isFree = async (): Promise<boolean> => !(await node.isServing());
  const isWell = async (): Promise<boolean> =>
    (await node.isServing()) && (await running.read(runningOf(kind))) !== undefined;
  const prove: ItemHost['prove'] = async ({ signal } = {}) => {
    if (await until(isWell, PROVE_MS, signal)) return;
    throw new Error(
      `its pipe ${kind.pipe} did not appear within ${PROVE_MS / 1000} s. See ${kind.log}`,
    );
  };
  const withLeftovers: ItemStore<'running'> = {
    read: (item) => running.read(item),
    write: async (item, state) => {
      await running.write(item, undefined, undefined);
      const { command = '' } = (await service.read(kind.item)) ?? {};
      const program = kind.programOf(command);
      if (program !== undefined) await node.endLeftovers(program);
      if (state === undefined) return;
      if (!(await until(isFree, FREE_MS))) {
        const message = `another process serves its pipe. Find out who runs ${kind.programName}`;
        throw new InstallError('stepFailed', message);
      }
      await running.write(item, state, undefined);
    },
  };
  return {
    platform: node.platform,
    strangersIn: (folder) => node.strangersIn(folder),
    stores: { ...node.stores, running: withLeftovers },
    trust,
    subject: kind.subject,
    prove,
    answers: prove,
  };
}
