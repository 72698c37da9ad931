/**
 * What keeps csi-proxy: where the parts of its library meet. A bundle of its own, loaded when the config has such a section, or had one.
 */
import {
  createCsiProxy,
  systemClock,
  type CsiProxy,
  type CsiProxyAct,
  type CsiProxyEvent,
  type CsiProxyOptions,
  type CsiProxyWish,
} from '@wins/csi-proxy';
import { StandInService } from '@wins/csi-proxy/testing';
import type { FileTrust } from '@wins/trusted-files';
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
}

/** The programs of the stand-in are scripts. */
const SCRIPT = Buffer.from('#!');

/** Begins to keep csi-proxy as it is wanted. */
export async function startCsiProxy(
  parts: CsiProxyParts,
  wish: CsiProxyWish | undefined,
): Promise<CsiProxy> {
  const { host, stateFolder, trust, onAct, onEvent } = parts;
  return createCsiProxy(
    {
      ...{ stateFolder, trust, onAct, onEvent, clock: systemClock },
      downloadFor: (tls) => downloadFor(tls, trust, onEvent),
      ...(await serviceOf(host)),
    },
    wish,
  );
}

async function serviceOf(
  host: CsiProxyParts['host'],
): Promise<Pick<CsiProxyOptions, 'service' | 'goProgram' | 'programMagic'>> {
  if (host.kind === 'standIn')
    return { service: new StandInService(host.file), programMagic: SCRIPT };
  const { WindowsCsiService, goProgram } = await import('./windows-csi-service.js');
  return { service: new WindowsCsiService(), goProgram: goProgram() };
}
