import { existsSync } from 'node:fs';
import path from 'node:path';

/** Why csi-proxy cannot run on this system, if so. Specs replace it before first use (docs/adr/0048-ship-no-test-doubles.md). */
export const csiProxyHost: { lacks: string | undefined } = {
  lacks: process.platform === 'win32' ? undefined : 'csi-proxy is for Windows nodes only',
};

/** Returns the folder in which a daemon with this config records its installation. */
export function stateFolderOf(configFile: string): string {
  return path.join(path.dirname(path.resolve(configFile)), 'csi-proxy');
}

export function hasRecord(stateFolder: string): boolean {
  return existsSync(path.join(stateFolder, 'state.json'));
}
