import { existsSync } from 'node:fs';
import path from 'node:path';

/** The service manager that runs csi-proxy, or why there is none. */
export type CsiProxyHost =
  | { readonly kind: 'windows' }
  /** For development: a file holds the definition of the service. */
  | { readonly kind: 'linux'; readonly file: string }
  | { readonly kind: 'none'; readonly reason: string };

/** Variable with the path of the file that defines the service elsewhere than on Windows. */
const VARIABLE = 'WINS_CSI_PROXY_SERVICE';

export function csiProxyHost(
  platform: NodeJS.Platform = process.platform,
  environment: NodeJS.ProcessEnv = process.env,
): CsiProxyHost {
  if (platform === 'win32') return { kind: 'windows' };
  const file = environment[VARIABLE];
  if (file !== undefined && path.isAbsolute(file)) return { kind: 'linux', file };
  return { kind: 'none', reason: 'csi-proxy is for nodes of Windows' };
}

/** Where a daemon with this config has the record of what it installed. */
export function stateFolderOf(configFile: string): string {
  return path.join(path.dirname(path.resolve(configFile)), 'csi-proxy');
}

export function hasRecord(stateFolder: string): boolean {
  return existsSync(path.join(stateFolder, 'state.json'));
}
