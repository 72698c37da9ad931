import { gzipSync } from 'node:zlib';
import { pack, type Header } from 'tar-stream';

/** An entry of an archive, with what is in it. */
export type ArchiveEntry = Partial<Header> & {
  readonly name: string;
  readonly content?: string | Buffer;
};

/** A tar that is compressed with gzip, made in memory. */
export async function archiveOf(entries: readonly ArchiveEntry[]): Promise<Buffer> {
  const tar = pack();
  for (const { content = '', ...header } of entries) tar.entry(header, content);
  tar.finalize();
  const parts: Buffer[] = [];
  for await (const part of tar) parts.push(part as Buffer);
  return gzipSync(Buffer.concat(parts), { level: 1 });
}
