import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import {
  digestOf,
  dockerArchive,
  ImageLab,
  ociImage,
  ociIndex,
  tarOf,
} from '../testing/image-harness.js';

/** Each archive has two parts, made by gzip, zstd, lz4 or bzip2. A skippable frame separates the parts of zstd and lz4. */
const FIXTURES = join(__dirname, '../testing/fixtures/archives');
const readsZstd = Number.parseInt(process.versions.node, 10) >= 26;
const COMPRESSED = ['gz', 'lz4', 'bz2'].concat(readsZstd ? ['zst'] : []);
const lab = { current: undefined as unknown as ImageLab };
beforeEach(() => (lab.current = new ImageLab()));
afterEach(() => lab.current.remove());

const path = (name: string) => join(lab.current.folder, name);
const text = (name: string) => readFileSync(path(name), 'utf8');
const modeOf = (name: string) => lstatSync(path(name)).mode & 0o777;
const save = (name: string, bytes: Buffer) => writeFileSync(join(lab.current.images, name), bytes);
const hello = () => tarOf([{ name: 'run.sh', mode: 0o755, content: 'hello' }]);

describe('an image of imagesDirectory', () => {
  it('is unpacked as the original does: two layers, a whiteout, a link, modes', async () => {
    const lower = await tarOf([
      { name: 'run.sh', mode: 0o755, content: 'echo\n' },
      { name: 'etc', type: 'directory', mode: 0o755 },
      { name: 'etc/data.txt', mode: 0o644, content: 'data1\n' },
      { name: 'etc/gone.txt', mode: 0o644, content: 'gone\n' },
      { name: 'bin/tool', mode: 0o700, content: 'tool\n' },
    ]);
    const upper = await tarOf([
      { name: 'etc/.wh.gone.txt' },
      { name: 'etc/data.txt', mode: 0o600, content: 'data2\n' },
      { name: 'etc/link', type: 'symlink', linkname: 'data.txt' },
      { name: 'Files/bin/win.ps1', mode: 0o644, content: 'win\n' },
    ]);
    save('img.tar', await dockerArchive('localtest/img:v1', [lower, upper]));
    await lab.current.unpack('localtest/img:v1');
    expect(existsSync(path('etc/gone.txt'))).toBe(false);
    expect([text('etc/data.txt'), readlinkSync(path('etc/link'))]).toEqual(['data2\n', 'data.txt']);
    expect(
      ['run.sh', 'bin/tool', 'etc/data.txt', 'Files', 'Files/bin/win.ps1'].map(modeOf),
    ).toEqual([0o755, 0o700, 0o600, 0o755, 0o644]);
    expect(lab.current.warnings).toEqual([]);
  });

  it('is unpacked from tars of the seventh Unix, which have no mark of their own', async () => {
    const from = join(lab.current.root, 'v7');
    mkdirSync(join(from, 'bin'), { recursive: true });
    writeFileSync(join(from, 'bin', 'run.sh'), 'hello', { mode: 0o755 });
    symlinkSync('bin/run.sh', join(from, 'run.sh'));
    const v7 = (folder: string) => execFileSync('tar', ['--format=v7', '-c', '-C', folder, '.']);
    const layer = v7(from);
    rmSync(from, { recursive: true });
    mkdirSync(from);
    const config = { rootfs: { diff_ids: [digestOf(layer)] } };
    const manifest = [{ Config: 'c', RepoTags: ['localtest/img:v1'], Layers: ['layer'] }];
    writeFileSync(join(from, 'c'), JSON.stringify(config));
    writeFileSync(join(from, 'manifest.json'), JSON.stringify(manifest));
    writeFileSync(join(from, 'layer'), layer);
    save('img.tar', v7(from));
    await lab.current.unpack('localtest/img:v1');
    expect([text('run.sh'), modeOf('bin/run.sh')]).toEqual(['hello', 0o755]);
    expect(lab.current.warnings).toEqual([]);
  });

  it('has a folder for the file of an old tar whose name ends with a slash', async () => {
    const layer = await tarOf([
      { name: 'old/', type: 'file', mode: 0o755 },
      { name: 'old/run.sh', content: 'hello' },
    ]);
    save('img.tar', await dockerArchive('localtest/img:v1', [layer]));
    await lab.current.unpack('localtest/img:v1');
    expect(text('old/run.sh')).toBe('hello');
  });

  it.each([
    ['localtest/img:v1', 'docker.io/localtest/img:v1'],
    ['docker.io/localtest/img:v1', 'index.docker.io/localtest/img:v1'],
    ['img', 'docker.io/library/img:latest'],
    ['registry.example:5000/a/b:v1', 'registry.example:5000/a/b:v1'],
  ])('saved as %s is found by %s', async (saved, asked) => {
    save('img.tar', await dockerArchive(saved, [await hello()]));
    await lab.current.unpack(asked);
    expect(text('run.sh')).toBe('hello');
  });

  it('is found in an OCI layout with images for several platforms', async () => {
    const [layer, other] = [await hello(), await tarOf([{ name: 'other', content: '' }])];
    const [ours, theirs] = [ociImage([layer], [gzipSync(layer)]), ociImage([other])];
    const list = ociIndex([
      { os: 'windows', architecture: 'amd64', text: theirs.text },
      { os: 'linux', architecture: 'amd64', text: ours.text },
    ]);
    const annotations = { 'io.containerd.image.name': 'docker.io/localtest/img:v1' };
    const index = { manifests: [{ digest: digestOf(list), size: list.length, annotations }] };
    const blobs = new Map([...ours.blobs, ...theirs.blobs, [digestOf(list), list]]);
    save(
      'img.tgz',
      gzipSync(
        await tarOf([
          { name: './oci-layout', content: '{"imageLayoutVersion":"1.0.0"}' },
          { name: './index.json', content: JSON.stringify(index) },
          ...[...blobs].map(([digest, content]) => ({
            name: `./blobs/${digest.replace(':', '/')}`,
            content,
          })),
        ]),
      ),
    );
    await lab.current.unpack('localtest/img:v1');
    expect(text('run.sh')).toBe('hello');
  });

  it.each(COMPRESSED)('is found in an archive compressed as %s in two parts', async (ending) => {
    save(`img.tar.${ending}`, readFileSync(join(FIXTURES, `img.tar.${ending}`)));
    await lab.current.unpack('127.0.0.1:1/img:v1');
    const digest = 'sha256:a45477d9b0449be9fc0229ca0f104e8c0a389ddf9768221b3a34beb0287e92f7';
    expect([text('run.sh'), digestOf(readFileSync(path('data')))]).toEqual(['hello', digest]);
    expect(lab.current.warnings).toEqual([]);
  });

  it('has layers that Docker wrote as links to others', async () => {
    const layer = await hello();
    const config = JSON.stringify({ rootfs: { diff_ids: [layer, layer].map(digestOf) } });
    const manifest = [
      { Config: 'c.json', RepoTags: ['img:v1'], Layers: ['a/layer.tar', 'b/layer.tar'] },
    ];
    save(
      'img.tar',
      await tarOf([
        { name: 'b/layer.tar', type: 'symlink', linkname: '../a/layer.tar' },
        { name: 'a/layer.tar', content: layer },
        { name: 'c.json', content: config },
        { name: 'manifest.json', content: JSON.stringify(manifest) },
      ]),
    );
    await lab.current.unpack('img:v1');
    expect(text('run.sh')).toBe('hello');
  });

  it('is passed over, with a warning, in a file that is not an archive or that others can write to', async () => {
    save('a.tar', Buffer.alloc(2000, 'no tar'));
    const archive = await dockerArchive('img:v1', [
      await tarOf([{ name: 'run.sh', content: 'foreign' }]),
    ]);
    save('b.tar', archive);
    chmodSync(join(lab.current.images, 'b.tar'), 0o666);
    save('c.tar', await dockerArchive('img:v1', [await hello()]));
    await lab.current.unpack('img:v1');
    expect(text('run.sh')).toBe('hello');
    expect(lab.current.warnings).toEqual([
      expect.stringContaining('a.tar'),
      expect.stringContaining('b.tar'),
    ]);
  });

  it('is refused when a layer has another digest than its config says', async () => {
    const [layer, other] = [await hello(), await tarOf([{ name: 'run.sh', content: 'other' }])];
    save('img.tar', await dockerArchive('img:v1', [layer], [other]));
    await expect(lab.current.unpack('img:v1')).rejects.toMatchObject({
      code: 'imageFailed',
      message: `cannot unpack layer 1: found the digest ${digestOf(other)}; wanted ${digestOf(layer)}`,
    });
  });

  it('is not searched for in a folder that others have filled', async () => {
    for (let index = 0; index <= 1000; index += 1) save(`${index}.tar`, Buffer.alloc(0));
    await expect(lab.current.unpack('localtest/img:v1')).rejects.toMatchObject({
      code: 'imageFailed',
      message: expect.stringContaining('found more files; wanted at most 1000') as string,
    });
    expect(lab.current.warnings).toEqual([]);
  });
});
