import fc from 'fast-check';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { dockerArchive, ImageLab, tarOf, type TarMember } from '../testing/image-harness.js';
import type { ImageLimits } from './checked-bytes.js';

const FIXTURES = join(__dirname, '../testing/fixtures/archives');
const MIB = 1024 * 1024;
/** Nothing listens at this address, so the image can only come from an archive. */
const NAME = '127.0.0.1:1/img:v1';
let lab: ImageLab;
beforeEach(() => (lab = new ImageLab()));
afterEach(() => lab.remove());

const failed = (found: string) => ({
  code: 'imageFailed',
  message: expect.stringContaining(found) as unknown,
});

async function unpackStored(
  stored: Buffer,
  limits: Partial<ImageLimits> = {},
  layer: Buffer = Buffer.alloc(0),
) {
  writeFileSync(join(lab.images, 'img.tar'), await dockerArchive(NAME, [layer], [stored]));
  await lab.unpack(NAME, { limits });
}

const hasZstd = Number.parseInt(process.versions.node, 10) >= 26;
const itWithZstd = hasZstd ? it : it.skip;
const zstdFrame = (window: number, blocks: readonly number[][]) =>
  Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, window, ...blocks.flat()]);
/** A block of four bytes that expands to 128 KiB of zeros. */
const REPEATED = [2, 0, 0x10, 0];

describe('what is small and becomes large', () => {
  it('is cut off in a layer of gzip', async () => {
    const layer = gzipSync(await tarOf([{ name: 'zeros', content: Buffer.alloc(5 * MIB) }]));
    await expect(unpackStored(layer, { unpackedBytes: MIB })).rejects.toMatchObject(
      failed('found more than 1048576 bytes'),
    );
    expect(statSync(join(lab.folder, 'zeros')).size).toBeLessThanOrEqual(MIB);
  });

  itWithZstd('is cut off in a layer of zstd, one block after another', async () => {
    const layer = zstdFrame(
      0x38,
      Array.from({ length: 50_000 }, () => REPEATED),
    );
    await expect(unpackStored(layer, { unpackedBytes: MIB })).rejects.toMatchObject(
      failed('found more than 1048576 bytes'),
    );
  });

  it('is cut off in all layers together', async () => {
    const layers = await Promise.all(
      ['a', 'b', 'c'].map((name) => tarOf([{ name, content: Buffer.alloc(MIB / 2) }])),
    );
    writeFileSync(
      join(lab.images, 'img.tar'),
      await dockerArchive(
        NAME,
        layers,
        layers.map((layer) => gzipSync(layer)),
      ),
    );
    await expect(lab.unpack(NAME, { limits: { unpackedBytes: 1.2 * MIB } })).rejects.toMatchObject(
      failed('cannot unpack layer 3'),
    );
    expect(existsSync(join(lab.folder, 'b'))).toBe(true);
  });

  it('is cut off in an archive, which is passed over', async () => {
    const archive = gzipSync(await tarOf([{ name: 'zeros', content: Buffer.alloc(5 * MIB) }]));
    writeFileSync(join(lab.images, 'img.tgz'), archive);
    await expect(lab.unpack(NAME, { limits: { unpackedBytes: MIB } })).rejects.toMatchObject({
      code: 'unreachable',
      message: expect.stringContaining(
        'no connection to 127.0.0.1:1: nothing listens there (ECONNREFUSED)',
      ) as unknown,
    });
    expect(lab.warnings).toEqual([
      expect.stringMatching(/^cannot use the archive .*img\.tgz: .* found more than 1048576 bytes/),
    ]);
  });

  itWithZstd.each([
    ['a window of 2 GiB', zstdFrame(0xa8, [REPEATED]), 'too much memory'],
    ['a window of 256 MiB', zstdFrame(0x90, [REPEATED]), 'too much memory'],
    [
      'a block larger than the format has',
      zstdFrame(0x38, [[2, 0, 0xff, 0]]),
      'Destination buffer is too small',
    ],
  ])('is refused in zstd with %s', async (_, layer, found) => {
    await expect(unpackStored(layer)).rejects.toMatchObject(failed(found));
  });

  it('is refused as many entries, as many layers, and as a long name', async () => {
    const many: TarMember[] = Array.from({ length: 11 }, (_, index) => ({
      name: `d${index}`,
      type: 'directory',
    }));
    const layer = await tarOf(many);
    await expect(unpackStored(layer, { entries: 10 }, layer)).rejects.toMatchObject(
      failed('found more entries; wanted at most 10'),
    );
    writeFileSync(
      join(lab.images, 'img.tar'),
      await dockerArchive(
        NAME,
        [many, many].map(() => Buffer.alloc(0)),
      ),
    );
    await expect(lab.unpack(NAME, { limits: { layers: 1 } })).rejects.toMatchObject(
      failed('found 2 layers; wanted at most 1'),
    );
    const long = await tarOf([{ name: 'x', pax: { path: 'x'.repeat(5 * MIB) } }]);
    await expect(unpackStored(long)).rejects.toMatchObject(failed('Header exceeds max size'));
  });
});

describe('what is broken', () => {
  it.each(['lz4', 'bz2'])(
    'a layer compressed as %s, which no registry has, is refused',
    async (ending) => {
      const layer = readFileSync(join(FIXTURES, `img.tar.${ending}`));
      await expect(unpackStored(layer)).rejects.toMatchObject(failed('wanted gzip or zstd'));
    },
  );

  it('a tar, or what it is compressed with, that ends too early is refused', async () => {
    const tar = await tarOf([{ name: 'file', content: Buffer.alloc(2000, 'x') }]);
    const half = tar.subarray(0, 1000);
    await expect(unpackStored(half, {}, half)).rejects.toMatchObject(
      failed('Unexpected end of data'),
    );
    const gzip = gzipSync(tar);
    await expect(unpackStored(gzip.subarray(0, gzip.length - 9))).rejects.toMatchObject(
      failed('unexpected end of file'),
    );
  });

  itWithZstd('a layer of zstd that ends too early is refused', async () => {
    await expect(unpackStored(zstdFrame(0x38, [REPEATED]))).rejects.toMatchObject({
      code: 'imageFailed',
    });
  });

  (hasZstd ? it.skip : it)('a layer of zstd is refused before Node 26', async () => {
    const found = `found zstd data, which Node ${process.versions.node} cannot read; wanted gzip`;
    await expect(unpackStored(zstdFrame(0x38, [REPEATED]))).rejects.toMatchObject(failed(found));
  });

  it.each(['gz', 'zst', 'lz4', 'bz2'])(
    'an archive compressed as %s with wrong bytes is refused or found out',
    async (ending) => {
      const whole = readFileSync(join(FIXTURES, `img.tar.${ending}`));
      const edits = fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), {
        minLength: 1,
        maxLength: 4,
      });
      await fc.assert(
        fc.asyncProperty(edits, fc.option(fc.nat(whole.length)), async (changes, length) => {
          const broken = Buffer.from(whole.subarray(0, length ?? whole.length));
          for (const [at, value] of changes) if (at < broken.length) broken[at] = value;
          writeFileSync(join(lab.images, `img.tar.${ending}`), broken);
          const code = await lab.unpack(NAME).then(
            () => 'unpacked',
            (error: unknown) => (error as { code?: string }).code,
          );
          expect(['unpacked', 'imageFailed', 'unreachable']).toContain(code);
          expect(readdirSync(lab.root).sort()).toEqual(['execution', 'images']);
        }),
        { numRuns: 25 },
      );
    },
  );
});
