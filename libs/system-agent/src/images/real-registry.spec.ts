import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { messageOf } from '@wins/base';
import { digestOf, ImageLab, ociImage, tarOf } from '../testing/image-harness.js';
import { RealRegistry } from '../testing/registry-harness.js';

const PROGRAM = '/usr/bin/docker-registry';
const mustRun = process.env['CI'] !== undefined || process.env['WINS_REQUIRE_WINDOWS'] === '1';
const withRegistry = existsSync(PROGRAM) || mustRun ? describe : describe.skip;
if (withRegistry === describe.skip) process.stderr.write(`SKIPPED: no ${PROGRAM}\n`);

/** Output of `htpasswd -nbB agent 'word:of canary'`. */
const HTPASSWD = 'agent:$2y$05$dJP/dHmeUy0yKmcNnEvKl.ZjY9K.V1XcBZFo94OeGya0kzB2E62YG';
const SECRET = 'word:of canary';

withRegistry('an image of a real registry', () => {
  let lab: ImageLab;
  let registry: RealRegistry;
  let image: ReturnType<typeof ociImage>;
  const basic = Buffer.from(`agent:${SECRET}`).toString('base64');
  const runScript = () => readFileSync(join(lab.folder, 'run.sh'), 'utf8');
  const withAuth = (auth: Record<string, string>) => {
    const file = join(lab.root, `${digestOf(Buffer.from(JSON.stringify(auth)))}.yaml`);
    writeFileSync(file, JSON.stringify({ configs: { [registry.host]: { auth } } }));
    return { registriesFiles: [join(lab.root, 'absent.yaml'), file] };
  };

  beforeAll(async () => {
    const layers = [
      await tarOf([
        { name: 'run.sh', content: 'old' },
        { name: 'gone', content: '' },
      ]),
      await tarOf([{ name: 'run.sh', mode: 0o755, content: 'hello' }, { name: '.wh.gone' }]),
    ];
    image = ociImage(
      layers,
      layers.map((layer) => gzipSync(layer)),
    );
  });
  beforeEach(() => (lab = new ImageLab()));
  afterEach(async () => {
    await registry.close();
    lab.remove();
  });

  it('is fetched by its tag, and by its digest, from one that asks nobody', async () => {
    registry = await RealRegistry.start(PROGRAM, lab.root);
    await registry.push('some/img', 'v1', image);
    for (const name of [
      'some/img:v1',
      `some/img@${digestOf(image.text)}`,
      `some/img:no@${digestOf(image.text)}`,
    ]) {
      await lab.unpack(`${registry.host}/${name}`);
      expect(runScript()).toBe('hello');
      expect(existsSync(join(lab.folder, 'gone'))).toBe(false);
    }
  });

  it('is fetched with a name and a password of registries.yaml or of Docker', async () => {
    registry = await RealRegistry.start(PROGRAM, lab.root, HTPASSWD);
    await registry.push('some/img', 'v1', image, `Basic ${basic}`);
    const dockerConfigFile = join(lab.root, 'config.json');
    writeFileSync(
      dockerConfigFile,
      JSON.stringify({ auths: { [`http://${registry.host}/v2/`]: { auth: basic } } }),
    );
    for (const options of [
      withAuth({ username: 'agent', password: SECRET }),
      withAuth({ auth: basic }),
      { dockerConfigFile },
    ]) {
      await lab.unpack(`${registry.host}/some/img:v1`, options);
      expect(runScript()).toBe('hello');
    }
  });

  it('is refused without them, with wrong ones, and when there is none; no message has the password', async () => {
    registry = await RealRegistry.start(PROGRAM, lab.root, HTPASSWD);
    const messages: string[] = [];
    for (const [name, options] of [
      ['img:v1', {}],
      ['img:v1', withAuth({ username: 'another', password: SECRET })],
      ['img:v1', withAuth({ username: 'agent', password: SECRET })],
    ] as const)
      await lab
        .unpack(`${registry.host}/some/${name}`, options)
        .catch((error: unknown) => messages.push(messageOf(error)));
    const from = `from http://${registry.host}`;
    expect(messages).toEqual([
      expect.stringContaining('found no name and password for it'),
      expect.stringContaining(
        `cannot get manifests/v1 of some/img ${from}: found status 401; wanted 200`,
      ),
      expect.stringContaining(
        `cannot get manifests/v1 of some/img ${from}: found status 404; wanted 200`,
      ),
    ]);
    expect(messages.join()).not.toContain('canary');
  });
});
