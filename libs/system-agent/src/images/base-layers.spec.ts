import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { digestOf, dockerArchive, ImageLab, ociImage, tarOf } from '../testing/image-harness.js';
import { RegistryDouble } from '../testing/registry-harness.js';

const FOREIGN = 'application/vnd.docker.image.rootfs.foreign.diff.tar.gzip';
const NOT_DISTRIBUTED = 'application/vnd.oci.image.layer.nondistributable.v1.tar+gzip';
const PLAIN = 'application/vnd.oci.image.layer.v1.tar';

let lab: ImageLab;
let registry: RegistryDouble;
let layers: readonly Buffer[];

beforeAll(async () => {
  const file = (name: string) => tarOf([{ name, content: name }]);
  // A real base layer has nothing in `Files/bin`. Here, `Files/bin/base` shows whether the layer was unpacked.
  layers = await Promise.all([
    file('Files/bin/base'),
    file('Files/bin/update'),
    file('Files/bin/own'),
  ]);
});
beforeEach(async () => {
  lab = new ImageLab();
  registry = await RegistryDouble.start();
});
afterEach(async () => {
  await registry.close();
  lab.remove();
});

interface Described {
  readonly os?: string;
  readonly types?: readonly string[];
  readonly history?: readonly object[];
  readonly subtree?: string;
}

function imageOf({ os = 'windows', types = [PLAIN, PLAIN, PLAIN], history }: Described) {
  const image = ociImage(layers);
  const config = Buffer.from(
    JSON.stringify({ os, history, rootfs: { diff_ids: layers.map(digestOf) } }),
  );
  const { manifest } = image;
  const described = {
    ...manifest,
    config: { ...manifest.config, digest: digestOf(config), size: config.length },
    layers: manifest.layers.map((layer, index) => ({ ...layer, mediaType: types[index] ?? '' })),
  };
  const text = Buffer.from(JSON.stringify(described));
  const blobs = new Map([...image.blobs, [digestOf(config), config]]);
  return { ...image, manifest: described, text, blobs };
}

async function unpacked(described: Described) {
  registry.serve('some/img', 'v1', imageOf(described));
  const { subtree = 'Files/bin' } = described;
  await lab.unpack(`${registry.host}/some/img:v1`, { ...(subtree !== '' && { subtree }) });
  const asked = registry.requests.map(({ path }) => path);
  const of = (bytes: Buffer) => asked.some((path) => path.endsWith(digestOf(bytes)));
  const at = subtree === '' ? 'Files/bin' : '';
  const there = (name: string) => existsSync(join(lab.folder, at, name));
  expect(layers.map(of)).toEqual(['base', 'update', 'own'].map(there));
  return layers.map(of);
}

describe('the layers of a Windows image that are Microsoft’s base', () => {
  it.each([
    ['foreign', { types: [FOREIGN, FOREIGN, PLAIN] }],
    ['not distributable', { types: [NOT_DISTRIBUTED, NOT_DISTRIBUTED, PLAIN] }],
    [
      'as its history says',
      {
        history: [
          { created_by: 'Apply image 10.0.20348.1' },
          { created_by: 'Install update 10.0.20348.2' },
          { created_by: 'ENTRYPOINT', empty_layer: true },
          { created_by: 'COPY bin /bin # buildkit' },
        ],
      },
    ],
  ])('are not fetched: %s', async (_title, described) => {
    expect(await unpacked(described)).toEqual([false, false, true]);
  });

  it.each<[string, Described]>([
    ['the whole image is wanted', { types: [FOREIGN, FOREIGN, PLAIN], subtree: '' }],
    ['it is for another system', { types: [FOREIGN, FOREIGN, PLAIN], os: 'linux' }],
    ['it is not the lowest', { types: [PLAIN, FOREIGN, FOREIGN] }],
    ['its history is of other layers', { history: [{ created_by: 'Apply image 1' }] }],
    ['it was made by a command', { history: Array(3).fill({ created_by: 'RUN Apply image 1' }) }],
  ])('are fetched where %s', async (_title, described) => {
    expect(await unpacked(described)).toEqual([true, true, true]);
  });

  it('are fetched above a layer of another kind', async () => {
    expect(await unpacked({ types: [FOREIGN, PLAIN, FOREIGN] })).toEqual([false, true, true]);
  });

  it('are passed over in an archive', async () => {
    const history = ['Apply image 1', 'a', 'b'].map((by) => ({ created_by: by }));
    const archive = await dockerArchive('some/img:v1', layers, layers, { os: 'windows', history });
    writeFileSync(join(lab.images, 'a.tar'), archive);
    await lab.unpack('some/img:v1', { subtree: 'Files/bin' });
    expect(existsSync(join(lab.folder, 'base'))).toBe(false);
    expect(readFileSync(join(lab.folder, 'own'), 'utf8')).toBe('Files/bin/own');
  });
});
