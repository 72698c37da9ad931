/**
 * What keeps csi-proxy: where its parts meet. Loaded when the config has such a section, or had one.
 */
import { systemClock } from '@wins/time';
import path from 'node:path';
import type { CsiProxyHost } from './csi-proxy-host.js';
import { downloadFor } from './download-for.js';
import type { KeeperOptions } from './keeper-options.js';
import { Keeper } from './keeper.js';
import { LinuxService } from './linux-service.js';
import type { CsiProxyWish } from './settings/judge-settings.js';

/** What the daemon gives to the keeper. */
export interface CsiProxyParts extends Pick<
  KeeperOptions,
  'stateFolder' | 'trust' | 'onAct' | 'onState' | 'onWarning' | 'removesGo'
> {
  readonly host: Exclude<CsiProxyHost, { readonly kind: 'none' }>;
}

/** On Linux the programs are scripts. */
const SCRIPT = Buffer.from('#!');

/** Begins to keep csi-proxy as it is wanted. The caller closes it. */
export async function startCsiProxy(
  { host, ...parts }: CsiProxyParts,
  wish: CsiProxyWish | undefined,
): Promise<Keeper> {
  return new Keeper(
    {
      ...{ ...parts, clock: systemClock },
      downloadFor: (tls) => downloadFor(tls, parts.trust, parts.onWarning),
      ...(await serviceOf(host)),
    },
    wish,
  );
}

async function serviceOf(
  host: CsiProxyParts['host'],
): Promise<Pick<KeeperOptions, 'service' | 'goProgram' | 'programMagic'>> {
  // The platform is a constant of a bundle: the one for Windows does without the service of Linux.
  if (process.platform !== 'win32' && host.kind === 'linux') {
    const service = new LinuxService(host.file);
    const goProgram = path.join(path.dirname(host.file), 'System32', 'csi-proxy.exe');
    return { service, goProgram, programMagic: SCRIPT };
  }
  const { WindowsCsiService, goProgram } = await import('./windows-csi-service.js');
  return { service: new WindowsCsiService(), goProgram: goProgram() };
}
