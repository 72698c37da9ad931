import { createHash } from 'node:crypto';
import type { Download } from '@wins/rancher-client';

/** Downloads from a table, but checks digests and sizes like a real download. */
export function memoryDownload(files: ReadonlyMap<string, Buffer>): Download {
  return async (url, { sha256, maxBytes, signal }, sink) => {
    signal?.throwIfAborted();
    const bytes = files.get(url);
    if (bytes === undefined) throw new Error('found the status 404; wanted 200');
    if (bytes.length > maxBytes) throw new Error(`found more than ${maxBytes} bytes`);
    for (let at = 0; at < bytes.length; at += 65_536) await sink(bytes.subarray(at, at + 65_536));
    const found = createHash('sha256').update(bytes).digest('hex');
    if (sha256 !== undefined && sha256 !== found) {
      const error = new Error(`found the SHA-256 ${found}; wanted ${sha256}`);
      throw Object.assign(error, { code: 'digestMismatch' });
    }
    const verifiedBy = sha256 === undefined ? 'tls' : 'digest';
    return { sha256: found, sizeBytes: bytes.length, verifiedBy };
  };
}
