import type { TlsSettings } from '@wins/config';
import { readCertificates, systemRoots } from '@wins/net';
import { createDownload, type Download } from '@wins/rancher-server';
import { readBytes, type FileTrust } from '@wins/trusted-files';
import { quoteText } from '@wins/wins-program';

const MAX_AUTHORITIES_BYTES = 1024 * 1024;
/** Who waits for the answer of a command should not wait for a server that is away; what keeps csi-proxy tries again by itself. */
const TIMEOUT_MS = 60_000;

/**
 * A download as `tls-config` wants it: the authorities of the system are trusted, with those of its file; a server with any other certificate only
 * for a file whose digest is known.
 *
 * @throws Error when the file of authorities cannot be read, or can be written by others.
 */
export async function downloadFor(
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
  throw new Error(
    `found no certificate in ${quoteText(file)}; wanted the authorities of tls-config`,
  );
}
