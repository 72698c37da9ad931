import { createHash } from 'node:crypto';
import type { Download } from '@wins/rancher-client';

/** Downloads from a table, but checks digests and sizes like a real download. */
export function memoryDownload(files: ReadonlyMap<string, Buffer>): Download {
  return async (url, { sha256, maxBytes, signal }) => {
    await Promise.resolve();
    signal?.throwIfAborted();
    const content = files.get(url);
    if (content === undefined) throw new Error('found the status 404; wanted 200');
    if (content.length > maxBytes) throw new Error(`found more than ${maxBytes} bytes`);
    const found = createHash('sha256').update(content).digest('hex');
    if (sha256 !== undefined && sha256 !== found) {
      const error = new Error(`found the SHA-256 ${found}; wanted ${sha256}`);
      throw Object.assign(error, { code: 'digestMismatch' });
    }
    return { content, sha256: found };
  };
}
