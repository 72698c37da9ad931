/**
 * What keeps csi-proxy: where the parts of its library meet. Loaded when the config has such a section, or had one.
 */
import { createCsiProxy } from './create-csi-proxy.js';
import { LinuxService } from './linux-service.js';
import type { CsiProxy, CsiProxyAct, CsiProxyEvent, CsiProxyOptions } from './csi-proxy.js';
import type { CsiProxyWish } from './settings/judge-settings.js';
import { systemClock } from '@wins/time';
import type { FileTrust } from '@wins/trusted-files';
import path from 'node:path';
import type { CsiProxyHost } from './csi-proxy-host.js';
import { downloadFor } from './download-for.js';

/** What the daemon gives to the component. */
export interface CsiProxyParts {
  readonly host: Exclude<CsiProxyHost, { readonly kind: 'none' }>;
  readonly stateFolder: string;
  readonly trust: FileTrust;
  /** Resolves once the act is recorded; when it rejects, the act does not happen. */
  readonly onAct: (act: CsiProxyAct) => Promise<void>;
  readonly onEvent: (event: CsiProxyEvent) => void;
  /** See `CsiProxyOptions`. */
  readonly removesGo?: boolean;
}

/** On Linux the programs are scripts. */
const SCRIPT = Buffer.from('#!');

/** Begins to keep csi-proxy as it is wanted. */
export async function startCsiProxy(
  parts: CsiProxyParts,
  wish: CsiProxyWish | undefined,
): Promise<CsiProxy> {
  const { host, stateFolder, trust, onAct, onEvent, removesGo = false } = parts;
  return createCsiProxy(
    {
      ...{ stateFolder, trust, onAct, onEvent, removesGo, clock: systemClock },
      downloadFor: (tls) => downloadFor(tls, trust, onEvent),
      ...(await serviceOf(host)),
    },
    wish,
  );
}

async function serviceOf(
  host: CsiProxyParts['host'],
): Promise<Pick<CsiProxyOptions, 'service' | 'goProgram' | 'programMagic'>> {
  // The platform is a constant of a bundle: the one for Windows does without the service of Linux.
  if (process.platform !== 'win32' && host.kind === 'linux') {
    const service = new LinuxService(host.file);
    const goProgram = path.join(path.dirname(host.file), 'System32', 'csi-proxy.exe');
    return { service, goProgram, programMagic: SCRIPT };
  }
  const { WindowsCsiService, goProgram } = await import('./windows-csi-service.js');
  return { service: new WindowsCsiService(), goProgram: goProgram() };
}
