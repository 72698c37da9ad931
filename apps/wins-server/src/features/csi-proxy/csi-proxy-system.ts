import type { ItemHost } from '@wins/installation';
import { existsSync } from 'node:fs';
import path from 'node:path';

/** The parts of a node that csi-proxy consists of. */
export interface CsiProxyNode extends Pick<ItemHost, 'platform' | 'stores' | 'strangersIn'> {
  /** True when any process serves the pipe `csi-proxy-filesystem-v1`. */
  isServing(): Promise<boolean>;
  /** Ends processes that still run this program, because a csi-proxy that outlived its service keeps the pipes. */
  endLeftovers(program: string): Promise<void>;
  /** Path of the csi-proxy from the Go release of wins. A service that runs it is adopted. */
  readonly goProgram: string;
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

export const RECORD_FILE = 'state.json';
/** Folder of the journal and the manifest, in the folder of the record. */
export const INSTALL_FOLDER = 'install';

export function stateFolderOf(configFile: string): string {
  return path.join(path.dirname(path.resolve(configFile)), 'csi-proxy');
}

/** Whether csi-proxy is or was installed, or a change is unfinished. */
export function hasRecord(stateFolder: string): boolean {
  return [RECORD_FILE, INSTALL_FOLDER].some((name) => existsSync(path.join(stateFolder, name)));
}
