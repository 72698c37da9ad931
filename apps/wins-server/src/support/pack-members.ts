import { createGzip } from 'node:zlib';
import { pack } from 'tar-stream';
import type { MadeMember } from './make-member.js';

export async function packMembers(
  folder: string,
  files: readonly Pick<MadeMember, 'name' | 'content'>[],
): Promise<Buffer> {
  const tar = pack();
  for (const { name, content } of files)
    tar.entry({ name: `${folder}/${name}`, mode: 0o600, mtime: new Date() }, content);
  tar.finalize();
  const parts: Buffer[] = [];
  for await (const part of tar.pipe(createGzip())) parts.push(part as Buffer);
  return Buffer.concat(parts);
}
