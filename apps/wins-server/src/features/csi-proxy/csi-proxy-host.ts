import { existsSync } from 'node:fs';
import path from 'node:path';

/**
 * Whether csi-proxy can run on this system. It can be replaced before anything is done: specs have a service for Linux in programs of
 * their own (docs/adr/0048-ship-no-test-doubles.md).
 */
export const csiProxyHost: { lacks: string | undefined } = {
  lacks: process.platform === 'win32' ? undefined : 'csi-proxy is for Windows nodes only',
};

/** Where a daemon with this config has the record of what it installed. */
export function stateFolderOf(configFile: string): string {
  return path.join(path.dirname(path.resolve(configFile)), 'csi-proxy');
}

export function hasRecord(stateFolder: string): boolean {
  return existsSync(path.join(stateFolder, 'state.json'));
}
