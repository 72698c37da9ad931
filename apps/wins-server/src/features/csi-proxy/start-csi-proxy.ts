/** Entry point of the csi-proxy bundle, for configs that have, or had, a csi-proxy section. */
import type { TlsSettings } from '@wins/config';
import { readCertificates, systemRoots } from '@wins/net';
import { createDownload, type Download } from '@wins/rancher-client';
import { systemClock } from '@wins/time';
import { readBytes, type FileTrust } from '@wins/trusted-files';
import { quoteText } from '@wins/base';
import type { CsiProxyManager, KeeperOptions } from './csi-proxy-port.js';
import { Keeper } from './keeper.js';
import type { DesiredCsiProxy } from './settings/judge-settings.js';

export type CsiProxyParts = Pick<
  KeeperOptions,
  'stateFolder' | 'trust' | 'onDecision' | 'onState' | 'onWarning' | 'removesGo'
>;

const MAX_AUTHORITIES_BYTES = 1024 * 1024;
/** Short, because a command may be waiting, and the keeper retries by itself. */
const TIMEOUT_MS = 60_000;

/** The caller closes the keeper. */
export async function startCsiProxy(
  parts: CsiProxyParts,
  desired: DesiredCsiProxy | undefined,
  manager: () => CsiProxyManager | Promise<CsiProxyManager> = windowsManager,
): Promise<Keeper> {
  return new Keeper(
    {
      ...parts,
      clock: systemClock,
      downloadFor: (tls) => downloadFor(tls, parts.trust, parts.onWarning),
      ...(await manager()),
    },
    desired,
  );
}

async function windowsManager(): Promise<CsiProxyManager> {
  const { WindowsCsiService, goProgram } = await import('./windows-csi-service.js');
  return { service: new WindowsCsiService(), goProgram: goProgram() };
}

/**
 * Trusts the system's authorities and those in `certFilePath`. With `insecure`, accepts any certificate but requires a
 * digest.
 * @throws Error for an unusable `certFilePath`.
 */
async function downloadFor(
  { insecure = false, certFilePath }: TlsSettings,
  trust: FileTrust,
  onWarning: (message: string) => void,
): Promise<Download> {
  const own =
    certFilePath === undefined ? [] : await readAuthorities(certFilePath, trust, onWarning);
  return createDownload({
    // judgeUrl has refused http:// addresses without a digest.
    allowHttp: true,
    anyCertificate: insecure,
    timeoutMs: TIMEOUT_MS,
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
