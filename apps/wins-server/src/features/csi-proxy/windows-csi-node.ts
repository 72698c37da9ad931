import {
  endProcessWithin,
  endService,
  pipeExists,
  processesOf,
  serviceControlManager,
  startServiceProcess,
  unlessFails,
  windowsFolder,
  windowsNode,
  type NodeServiceManners,
} from '@wins/windows-host';
import path from 'node:path';
import type { CsiProxyNode } from './csi-proxy-system.js';

/** Pipe of every csi-proxy since v1.0.0. */
const PIPE = '\\\\.\\pipe\\csi-proxy-filesystem-v1';
const GRACE_MS = 5_000;

/** Equals the definition in the Go release. */
const MANNERS: NodeServiceManners = {
  displayName: 'CSI Proxy',
  description: 'Manages the Kubernetes CSI Proxy application.',
  dependencies: [],
  failurePolicy: { restartDelaysMs: [10_000], resetAfterSeconds: 600 },
  preshutdownTimeoutMs: 5_000,
};

/** @param graceMs - Time until a process is killed, because csi-proxy reports that it has stopped, but keeps running. */
export function windowsCsiNode(graceMs = GRACE_MS): CsiProxyNode {
  const { stores, strangersIn } = windowsNode(MANNERS);
  const services = serviceControlManager();
  return {
    platform: 'win32',
    strangersIn,
    stores: {
      ...stores,
      running: {
        read: (item) => stores.running.read(item),
        write: async ({ service }, state) => {
          if (state !== undefined) await startServiceProcess(service);
          else if (unlessFails(() => services.status(service), 'notFound') !== undefined)
            await endService(service, { stopMs: graceMs, exitMs: graceMs });
        },
      },
    },
    // oxlint-disable-next-line typescript/require-await -- errors are rejections
    isServing: async () => pipeExists(PIPE),
    endLeftovers: async (program) => {
      for (const left of processesOf(program)) await endProcessWithin(left, 0);
    },
    // The Go release unpacks csi-proxy into its own working folder, which is `System32` for a Windows service.
    adoptedProgram: path.win32.join(windowsFolder() ?? 'C:\\Windows', 'System32', 'csi-proxy.exe'),
    programMagic: Buffer.from('MZ'),
  };
}
