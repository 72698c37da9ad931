import { createHash } from 'node:crypto';
import { pack, type Header } from 'tar-stream';

export type TarMember = Partial<Header> & {
  readonly name: string;
  readonly content?: string | Buffer;
};

export async function tarOf(members: readonly TarMember[]): Promise<Buffer> {
  const tar = pack();
  for (const { content, ...header } of members) tar.entry(header, content ?? '');
  tar.finalize();
  const parts: Buffer[] = [];
  for await (const part of tar) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

export function digestOf(bytes: Buffer): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

/**
 * Returns an archive like that of `docker save`. `stored` has each layer as stored, for example compressed. `more` is added to the config.
 */
export async function dockerArchive(
  tag: string,
  layers: readonly Buffer[],
  stored: readonly Buffer[] = layers,
  more: object = {},
): Promise<Buffer> {
  const config = JSON.stringify({ ...more, rootfs: { diff_ids: layers.map(digestOf) } });
  const names = layers.map((_, index) => `${index}/layer.tar`);
  return await tarOf([
    ...stored.map((content, index) => ({ name: names[index] ?? '', content })),
    { name: 'config.json', content: config },
    {
      name: 'manifest.json',
      content: JSON.stringify([{ Config: 'config.json', RepoTags: [tag], Layers: names }]),
    },
  ]);
}
