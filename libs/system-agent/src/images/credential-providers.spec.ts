import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { posixFileTrust } from '@wins/trusted-files';
import { ImageLab, ociImage, tarOf } from '../testing/image-harness.js';
import { RegistryDouble } from '../testing/registry-harness.js';
import { CredentialProviders } from './provider/credential-providers.js';
import { matchesImage } from './provider/provider-config.js';

const PROTOCOL = 'credentialprovider.kubelet.k8s.io/v1';
const NAME = 'test-provider';

let lab: ImageLab;
let nowMs: number;
beforeEach(() => {
  lab = new ImageLab();
  nowMs = 1_000_000;
  mkdirSync(folder());
});
afterEach(() => lab.remove());

const folder = () => join(lab.root, 'bin');
const configFile = () => join(lab.root, 'providers.yaml');
const program = () => join(folder(), NAME);
const asked = () =>
  existsSync(join(lab.root, 'asked')) ? readFileSync(join(lab.root, 'asked'), 'utf8') : '';

/** @param script - Commands that the provider runs after it has recorded its request. */
function provide(script: string, settings: object = {}) {
  const provider = {
    ...{ name: NAME, matchImages: ['*.example'], defaultCacheDuration: '1h' },
    ...{ apiVersion: PROTOCOL, ...settings },
  };
  const config = { apiVersion: 'kubelet.config.k8s.io/v1', kind: 'CredentialProviderConfig' };
  writeFileSync(configFile(), JSON.stringify({ ...config, providers: [provider] }));
  writeFileSync(program(), `#!/bin/sh\ncat >> ${join(lab.root, 'asked')}\n${script}\n`);
  chmodSync(program(), 0o755);
}

function answer(more: object = {}) {
  const auth = { 'a.example': { username: 'agent', password: 'canary' } };
  const kind = 'CredentialProviderResponse';
  return JSON.stringify({ apiVersion: PROTOCOL, kind, cacheKeyType: 'Registry', auth, ...more });
}
const say = (text: string) => `printf '%s' '${text}'`;

function providers(
  environment: Readonly<Record<string, string>> = { PATH: '/usr/bin:/bin' },
  limitMs?: number,
  onRun?: (run: object) => Promise<void>,
) {
  const clock = { now: () => new Date(nowMs), wait: () => Promise.resolve() };
  const paths = { configFile: configFile(), binDirectory: folder() };
  return new CredentialProviders({
    paths,
    trust: posixFileTrust(),
    ...{ environment, clock, limitMs, onRun },
  });
}
const find = (image = 'a.example/some/img', of = providers()) =>
  of.find(image, new AbortController().signal);

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Whether a process runs; false for a zombie. */
function runs(pid: string): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

describe('a credential provider of the kubelet', () => {
  it('is asked by its protocol, and its login used', async () => {
    provide(say(answer()));
    expect(await find()).toEqual({
      credentials: { username: 'agent', password: 'canary' },
      from: `the credential provider ${NAME}`,
    });
    expect(JSON.parse(asked())).toEqual({
      apiVersion: PROTOCOL,
      kind: 'CredentialProviderRequest',
      image: 'a.example/some/img',
    });
  });

  it('is not run for an image that is not its own', async () => {
    provide(say(answer()));
    expect(await find('other.invalid/some/img')).toBeUndefined();
    expect(asked()).toBe('');
  });

  it('knows none where its answer has none for the image', async () => {
    provide(say(answer({ auth: { 'b.example': { username: 'a', password: 'b' } } })));
    expect(await find()).toBeUndefined();
  });

  it('is none where there is no configuration', async () => {
    expect(await find()).toBeUndefined();
  });

  it.each([
    ['Image', ['a.example/x', 'a.example/x', 'a.example/y'], 2],
    ['Registry', ['a.example/x', 'a.example/y', 'b.example/x'], 2],
    ['Global', ['a.example/x', 'b.example/y'], 1],
  ])('is asked anew as its answer for each %s says', async (cacheKeyType, images, times) => {
    provide(say(answer({ cacheKeyType, cacheDuration: '5m' })));
    const own = providers();
    for (const image of images) await find(image, own);
    expect(asked().split('CredentialProviderRequest')).toHaveLength(times + 1);
  });

  it.each([
    [{ cacheDuration: '5m' }, 299_000, 1],
    [{ cacheDuration: '5m' }, 301_000, 2],
    [{}, 3_599_000, 1],
    [{}, 3_601_000, 2],
    [{ cacheDuration: '0s' }, 0, 2],
  ])('with %j is asked after %d ms %d times', async (more, laterMs, times) => {
    provide(say(answer(more)));
    const own = providers();
    await find(undefined, own);
    nowMs += laterMs;
    await find(undefined, own);
    expect(asked().split('CredentialProviderRequest')).toHaveLength(times + 1);
  });

  it('gets its arguments as words, its own variables, and only listed ones of ours', async () => {
    const env = [{ name: 'REGION', value: 'here; touch x' }];
    const args = ['$(touch x)', 'a b'];
    provide(`env > ${lab.root}/env; printf '%s|' "$@" > ${lab.root}/args\n${say(answer())}`, {
      ...{ env, args },
    });
    await find(undefined, providers({ PATH: '/usr/bin:/bin', HTTPS_PROXY: 'p', TOKEN: 'canary' }));
    expect(readFileSync(join(lab.root, 'args'), 'utf8')).toBe('$(touch x)|a b|');
    const seen = readFileSync(join(lab.root, 'env'), 'utf8');
    expect(seen).toMatch(/^REGION=here; touch x$/m);
    expect(seen).toMatch(/^HTTPS_PROXY=p$/m);
    expect(seen).not.toContain('canary');
  });

  it.each([
    ['ends with 3', 'echo "no role" >&2; exit 3', 'found the exit code 3 with "no role"'],
    ['writes too much', 'head -c 1100000 /dev/zero; sleep 1000', 'found more than 1048576 bytes'],
    ['writes no JSON', 'echo canary', 'found no JSON'],
    ['writes another kind', say(answer({ kind: 'Other' })), 'found JSON of another form'],
    ['speaks another version', say(answer({ apiVersion: 'v2' })), 'found JSON of another form'],
    [
      'says no key of its cache',
      say(answer({ cacheKeyType: undefined })),
      'found JSON of another form',
    ],
  ])('that %s fails, and nothing of its answer is repeated', async (_title, script, found) => {
    provide(script);
    const error: unknown = await find().catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'imageFailed' });
    expect(String(error)).toContain(found);
    expect(inspect(error, { depth: 9 })).not.toContain('canary');
  });

  describe('that started a program', () => {
    let pids: string;
    const environment = { PATH: '/usr/bin:/bin' };
    beforeEach(() => {
      pids = join(lab.root, 'pids');
      provide(`sleep 100000 & echo $$ $! > ${pids}.new; mv ${pids}.new ${pids}; wait`);
    });
    afterEach(async () => {
      for (const pid of readFileSync(pids, 'utf8').trim().split(' '))
        while (runs(pid)) await turn();
    });

    it('ends with it when the image is given up', async () => {
      const stop = new AbortController();
      const finding = providers(environment).find('a.example/x', stop.signal);
      const failing = expect(finding).rejects.toThrow('told to stop');
      while (!existsSync(pids)) await turn();
      stop.abort(new Error('told to stop'));
      await failing;
    });

    it('ends with it when its time is over', async () => {
      // On a busy host the time may be over before the provider has started the program.
      for (let limitMs = 100; !existsSync(pids); limitMs *= 2) {
        const finding = find('a.example/x', providers(environment, limitMs));
        await expect(finding).rejects.toThrow(`found no answer within ${limitMs} ms`);
      }
    });
  });

  it.each([
    ['has no file', () => undefined, { name: 'absent' }, 'absent'],
    ['is another path', () => undefined, { name: '../test-provider' }, 'providers.0.name'],
    ['is a path', () => undefined, { name: '/bin/sh' }, 'providers.0.name'],
    ['can be changed by others', () => chmodSync(program(), 0o777), {}, 'can write to it'],
    ['is in a folder of others', () => chmodSync(folder(), 0o777), {}, 'can write to it'],
    ['is configured by others', () => chmodSync(configFile(), 0o666), {}, 'can write to it'],
    ['wants another protocol', () => undefined, { apiVersion: 'v1' }, 'providers.0.apiVersion'],
    [
      'wants what is not known',
      () => undefined,
      { tokenAttributes: {} },
      'the unsupported key "tokenAttributes"',
    ],
    ['has no time for its cache', () => undefined, { defaultCacheDuration: 'x' }, 'Duration'],
  ])('that %s is not run', async (_title, change, settings, found) => {
    provide(say(answer()), settings);
    change();
    const error: unknown = await find().catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'imageFailed' });
    expect(String(error)).toContain(found);
    expect(asked()).toBe('');
  });

  it('runs only after its run is recorded', async () => {
    provide(say(answer()));
    const environment = { PATH: '/usr/bin:/bin' };
    const runs: object[] = [];
    const record = async (run: object) => {
      await turn();
      runs.push({ ...run, asked: asked() });
    };
    await find('a.example/x', providers(environment, undefined, record));
    expect(runs).toEqual([{ name: NAME, file: program(), image: 'a.example/x', asked: '' }]);
    const refuse = () => Promise.reject(new Error('the disk is full'));
    const before = asked();
    await expect(find('a.example/y', providers(environment, undefined, refuse))).rejects.toThrow(
      'the disk is full',
    );
    expect(asked()).toBe(before);
  });

  it('is never searched for by its name alone', async () => {
    provide(say(answer()), { name: 'sh' });
    await expect(find()).rejects.toThrow(join(folder(), 'sh'));
  });
});

it.each([
  ['a.example', 'a.example/x', true],
  ['*.example', 'a.example/x', true],
  ['*.example', 'a.b.example/x', false],
  ['a*.e?ample', 'abc.example/x', true],
  ['*.dkr.ecr.*.amazonaws.com', '1.dkr.ecr.eu-1.amazonaws.com/x', true],
  ['a.example', 'a.example:5000/x', false],
  ['a.example:5000', 'a.example:5000/x', true],
  ['a.example/some', 'a.example/some/img', true],
  ['a.example/other', 'a.example/some/img', false],
  ['https://a.example', 'a.example/x', true],
  ['a.example', 'aXexample/x', false],
  ['[::1]:5000', '[::1]:5000/x', true],
  ['127.0.0.1:*', '127.0.0.1:5000/x', false],
])('matchImages %s for %s: %s', (pattern, image, expected) => {
  expect(matchesImage(pattern, image)).toBe(expected);
});

it('an image is fetched with the login of a provider, asked once the registry wants to know, and once for all layers', async () => {
  const registry = await RegistryDouble.start();
  registry.serve('some/img', 'v1', ociImage([await tarOf([{ name: 'run.sh', content: 'hello' }])]));
  const [host = ''] = registry.host.split('/');
  const auth = { [host]: { username: 'agent', password: 'canary' } };
  const basic = `Basic ${Buffer.from('agent:canary').toString('base64')}`;
  provide(say(answer({ auth, cacheDuration: '1h' })), { matchImages: [host] });
  const credentialProviders = { configFile: configFile(), binDirectory: folder() };
  const store = lab.store({ credentialProviders, environment: { PATH: '/usr/bin:/bin' } });
  const unpack = () =>
    store.unpack(`${registry.host}/some/img:v1`, lab.folder, new AbortController().signal);
  await unpack();
  expect(asked()).toBe('');
  registry.gate = ({ headers }, response) => {
    if (headers.authorization === basic) return false;
    response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end();
    return true;
  };
  await unpack();
  await unpack();
  expect(asked().split('CredentialProviderRequest')).toHaveLength(2);
  await registry.close();
});
