import type { ServiceNode } from '@wins/installation';

/** The parts of a node that csi-proxy consists of. */
export interface CsiProxyNode extends ServiceNode {
  /** First bytes of a program. */
  readonly programMagic: Uint8Array;
}

/** Specs replace these values before first use (docs/adr/0048-ship-no-test-doubles.md). */
export const csiProxySystem: {
  /** Reason why csi-proxy cannot run here, if any. */
  lacks: string | undefined;
  /** Default: the service manager of Windows. */
  node?: (() => CsiProxyNode) | undefined;
} = {
  lacks: process.platform === 'win32' ? undefined : 'csi-proxy is for Windows nodes only',
};
