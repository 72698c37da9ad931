import { tarOf, type TarMember } from '@wins/system-agent/testing';
import { gzipSync } from 'node:zlib';

/** A tar that is compressed with gzip, made in memory. */
export async function archiveOf(entries: readonly TarMember[]): Promise<Buffer> {
  return gzipSync(await tarOf(entries), { level: 1 });
}
