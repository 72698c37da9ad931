import path from 'node:path';

/** What stands for the service manager, or why there is none. */
export type CsiProxyHost =
  | { readonly kind: 'windows' }
  /** A file stands for the service: for tests and demonstrations. */
  | { readonly kind: 'standIn'; readonly file: string }
  | { readonly kind: 'none'; readonly reason: string };

/** Names the file that stands for the service elsewhere than on Windows. */
const VARIABLE = 'WINS_CSI_PROXY_SERVICE';

/** Where csi-proxy would run. Pure. */
export function csiProxyHost(
  platform: NodeJS.Platform = process.platform,
  environment: NodeJS.ProcessEnv = process.env,
): CsiProxyHost {
  if (platform === 'win32') return { kind: 'windows' };
  const file = environment[VARIABLE];
  if (file !== undefined && path.isAbsolute(file)) return { kind: 'standIn', file };
  return { kind: 'none', reason: 'csi-proxy is for nodes of Windows' };
}
