/**
 * Composition of the parts that keep csi-proxy. Loaded when the config has such a section, or had one.
 */
import type { TlsSettings } from '@wins/config';
import { readCertificates, systemRoots } from '@wins/net';
import { createDownload, type Download } from '@wins/rancher-client';
import { systemClock } from '@wins/time';
import { readBytes, type FileTrust } from '@wins/trusted-files';
import { quoteText } from '@wins/base';
import type { KeeperOptions } from './csi-proxy-port.js';
import { Keeper } from './keeper.js';
import type { CsiProxyWish } from './settings/judge-settings.js';

/** Parts that the daemon gives to the keeper. */
export type CsiProxyParts = Pick<
  KeeperOptions,
  'stateFolder' | 'trust' | 'onAct' | 'onState' | 'onWarning' | 'removesGo'
>;

const MAX_AUTHORITIES_BYTES = 1024 * 1024;
/** Time for which a download is retried before its first byte. A command should not wait for an absent server, and the keeper retries by itself. */
const TIMEOUT_MS = 60_000;

/** The service of csi-proxy, and what it runs. */
export type CsiProxyManager = Pick<KeeperOptions, 'service' | 'goProgram' | 'programMagic'>;

/** Begins to keep csi-proxy as it is wanted. The caller closes it. */
export async function startCsiProxy(
  parts: CsiProxyParts,
  wish: CsiProxyWish | undefined,
  manager: () => CsiProxyManager | Promise<CsiProxyManager> = windowsManager,
): Promise<Keeper> {
  return new Keeper(
    {
      ...{ ...parts, clock: systemClock },
      downloadFor: (tls) => downloadFor(tls, parts.trust, parts.onWarning),
      ...(await manager()),
    },
    wish,
  );
}

async function windowsManager(): Promise<CsiProxyManager> {
  const { WindowsCsiService, goProgram } = await import('./windows-csi-service.js');
  return { service: new WindowsCsiService(), goProgram: goProgram() };
}

/**
 * A download as `tls-config` wants it: the authorities of the system are trusted, with those of its file; a server with any other certificate only
 * for a file whose digest is known.
 *
 * @throws Error when the file of authorities cannot be read, or can be written by others.
 */
async function downloadFor(
  { insecure = false, certFilePath }: TlsSettings,
  trust: FileTrust,
  onWarning: (message: string) => void,
): Promise<Download> {
  const own =
    certFilePath === undefined ? [] : await readAuthorities(certFilePath, trust, onWarning);
  return createDownload({
    // Without a digest an address of http:// is refused all the same.
    ...{ allowHttp: true, anyCertificate: insecure, timeoutMs: TIMEOUT_MS },
    roots: [...systemRoots(), ...own],
    onWarning,
  });
}

async function readAuthorities(
  file: string,
  trust: FileTrust,
  onWarning: (message: string) => void,
): Promise<string[]> {
  const text = await readBytes(file, { trust, followLinks: true, maxBytes: MAX_AUTHORITIES_BYTES });
  const { certificates, warnings } = readCertificates(text.toString('latin1'), quoteText(file));
  warnings.forEach(onWarning);
  if (certificates.length > 0) return certificates.map(({ pem }) => pem);
  throw new Error(`${quoteText(file)} has no certificate; wanted the authorities of tls-config`);
}
