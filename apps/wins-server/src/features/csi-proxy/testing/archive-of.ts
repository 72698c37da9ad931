import { tarOf, type TarMember } from '@wins/system-agent/testing';
import { gzipSync } from 'node:zlib';

export async function archiveOf(entries: readonly TarMember[]): Promise<Buffer> {
  return gzipSync(await tarOf(entries), { level: 1 });
}
