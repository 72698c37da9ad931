import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startProxy } from '@wins/net/testing';
import { dockerArchive, ImageLab, ociImage, tarOf } from '../testing/image-harness.js';
import { CA_FILE, RegistryDouble } from '../testing/registry-harness.js';
import { REGISTRY_SHAPES, REGISTRY_USER } from '../testing/registry-shapes.js';
import { checkImage, checkRegistries, type CheckOptions } from './check-registries.js';

let lab: ImageLab;
let registry: RegistryDouble;
let other: RegistryDouble;
let layer: Buffer;

beforeEach(async () => {
  lab = new ImageLab();
  [registry, other] = [await RegistryDouble.start({ tls: true }), await RegistryDouble.start()];
  layer = await tarOf([{ name: 'run.sh', content: 'hello' }]);
  registry.serve('cache/some/img', 'v1', ociImage([layer]));
});
afterEach(async () => {
  await Promise.all([registry.close(), other.close()]);
  lab.remove();
});

const auth = { username: REGISTRY_USER.username, password: REGISTRY_USER.password };
function options(content: object, more: Partial<CheckOptions> = {}): CheckOptions {
  const file = join(lab.root, 'registries.yaml');
  writeFileSync(file, JSON.stringify(content));
  return { ...lab.options(), registriesFiles: [file], ...more };
}
const signal = new AbortController().signal;
const check = (more: CheckOptions) => checkImage('some/img:v1', { ...more, signal });
const settings = () => ({
  mirrors: {
    'docker.io': { endpoint: [other.url, registry.url], rewrite: { '^': 'cache/' } },
  },
  configs: { [registry.host]: { auth, tls: { ca_file: CA_FILE } }, other: { auth } },
});

describe('the check of an image', () => {
  it('says which registry is asked, by which entry, name, trust and login, until one has it', async () => {
    REGISTRY_SHAPES['Harbor']?.(registry, other);
    const found = await check(options(settings()));
    const shared = { repository: 'cache/some/img', mirrorOf: 'docker.io', rewrittenBy: '^' };
    expect(found).toEqual({
      image: 'some/img:v1',
      isInArchive: false,
      registriesFile: join(lab.root, 'registries.yaml'),
      warnings: [],
      registries: [
        {
          ...shared,
          url: `${other.url}/v2`,
          proxy: '',
          trust: 'none: it has no TLS',
          login: '',
          isLoginShown: false,
          result: 'failed',
          failure: `cannot get manifests/v1 of cache/some/img from ${other.url}: found status 404; wanted 200`,
        },
        {
          ...shared,
          url: `${registry.url}/v2`,
          proxy: '',
          trust: `authorities of the system, and of ${CA_FILE}`,
          login: `configs.${registry.host} of registries.yaml`,
          isLoginShown: true,
          result: 'ok',
          failure: '',
        },
        {
          url: 'https://index.docker.io/v2',
          repository: 'some/img',
          mirrorOf: '',
          rewrittenBy: '',
          proxy: '',
          trust: 'authorities of the system',
          login: '',
          isLoginShown: false,
          result: 'notAsked',
          failure: '',
        },
      ],
    });
    expect(readdirSync(lab.folder)).toEqual([]);
    expect(JSON.stringify(found)).not.toContain('canary');
  });

  it('says why each failed: trust, login, proxy', async () => {
    const proxy = await startProxy({ user: { name: 'a', password: 'canary' }, hosts: {} });
    const { mirrors } = settings();
    const environment = {
      HTTPS_PROXY: `http://a:canary2@${proxy.host}`,
      NO_PROXY: '127.0.0.1',
    };
    const found = await check(options({ mirrors }, { environment }));
    expect(found.registries.map(({ result }) => result)).toEqual(['failed', 'failed', 'failed']);
    const [, noTrust, noProxy] = found.registries;
    expect(noTrust?.failure).toContain('is from an unknown authority');
    expect(noProxy).toMatchObject({ proxy: proxy.host });
    expect(noProxy?.failure).toContain('answered with status 407');
    REGISTRY_SHAPES['Nexus']?.(registry, other);
    const wrong = { username: 'agent', password: 'canary' };
    const configs = { '*': { auth: wrong, tls: { insecure_skip_verify: true } } };
    const refused = await check(options({ mirrors, configs }, { environment }));
    expect(refused.registries[1]).toMatchObject({
      trust: 'any certificate',
      login: 'configs.* of registries.yaml',
      isLoginShown: true,
      failure: expect.stringContaining('found status 404') as unknown,
    });
    expect(JSON.stringify([found, refused])).not.toContain('canary');
    await proxy.close();
  });

  it('says that an archive of the node has it, and asks no registry', async () => {
    writeFileSync(join(lab.images, 'a.tar'), await dockerArchive('some/img:v1', [layer]));
    const found = await check(options(settings()));
    expect(found.isInArchive).toBe(true);
    expect(new Set(found.registries.map(({ result }) => result))).toEqual(new Set(['notAsked']));
    expect([...registry.requests, ...other.requests]).toEqual([]);
  });

  it('fails as the image would where registries.yaml cannot be used', async () => {
    const mirrors = { 'docker.io': { endpoint: ['ftp://x'] } };
    await expect(check(options({ mirrors }))).rejects.toThrow('wanted an address such as');
  });
});

describe('the check of all registries', () => {
  it('asks each endpoint and each other host of configs once, and shows a login where one is wanted', async () => {
    REGISTRY_SHAPES['Harbor']?.(registry, other);
    const { mirrors, configs } = settings();
    const all = { ...mirrors, 'b.invalid': { endpoint: [registry.url] } };
    const { other: _other, ...own } = configs;
    const found = await checkRegistries({
      ...options({ mirrors: all, configs: { ...own, '127.0.0.1:1': { auth } } }),
      signal,
    });
    expect(
      found.registries.map(({ url, mirrorOf, login, isLoginShown, result, failure }) => [
        url,
        mirrorOf,
        login !== '',
        isLoginShown,
        result,
        failure,
      ]),
    ).toEqual([
      [`${other.url}/v2`, 'docker.io', false, false, 'ok', ''],
      [`${registry.url}/v2`, 'docker.io', true, true, 'ok', ''],
      ['http://127.0.0.1:1/v2', '', true, false, 'failed', expect.stringContaining('ECONNREFUSED')],
    ]);
    const tokens = registry.requests.filter(({ path }) => path.startsWith('/service/token'));
    expect(tokens.map(({ path }) => path)).toEqual(['/service/token?service=test']);
  });

  it('asks for no scope, whatever the challenge of /v2/ says', async () => {
    REGISTRY_SHAPES['one with a placeholder']?.(registry, other);
    const { configs } = settings();
    const mirrors = { a: { endpoint: [registry.url] } };
    const { other: _other, ...own } = configs;
    const found = await checkRegistries({ ...options({ mirrors, configs: own }), signal });
    expect(found.registries).toEqual([
      expect.objectContaining({ result: 'ok', failure: '', isLoginShown: true }),
    ]);
    const tokens = registry.requests.filter(({ path }) => path.startsWith('/token'));
    expect(tokens.map(({ path }) => path)).toEqual(['/token?service=test']);
  });

  it('warns of a host that no registry has, and does not ask it', async () => {
    const { mirrors, configs } = settings();
    const { other: _other, ...own } = configs;
    const more = { [`http://${other.host}/v2/`]: { auth }, 'no host': { auth } };
    const content = options({ mirrors, configs: { ...own, ...more } });
    const found = await checkRegistries({ ...content, signal });
    expect(found.registries).toHaveLength(2);
    expect(found.warnings).toEqual((await check(content)).warnings);
    expect(found.warnings).toEqual([
      expect.stringContaining(`nothing uses "configs.http://${other.host}/v2/" of ${lab.root}`),
      expect.stringContaining('nothing uses "configs.no host"'),
    ]);
  });

  it('says that a login is refused', async () => {
    REGISTRY_SHAPES['Nexus']?.(registry, other);
    const wrong = { auth: { username: 'agent', password: 'canary' }, tls: { ca_file: CA_FILE } };
    const mirrors = { a: { endpoint: [registry.url] } };
    const found = await checkRegistries({
      ...options({ mirrors, configs: { [registry.host]: wrong } }),
      signal,
    });
    expect(found.registries[0]?.failure).toContain('found status 401; wanted 200; used');
    expect(JSON.stringify(found)).not.toContain('canary');
  });
});

describe('an abort', () => {
  it.each<[string, (signal: AbortSignal) => Promise<unknown>]>([
    ['of the check of an image', (stop) => checkImage('x/y:v1', { ...served(), signal: stop })],
    ['of the check of registries', (stop) => checkRegistries({ ...served(), signal: stop })],
    ['of an image', (stop) => lab.store(served()).unpack('x/y:v1', lab.folder, { signal: stop })],
  ])('%s ends it, before it began and while a server is awaited', async (_, call) => {
    const reason = new Error('enough');
    const aborted = { name: 'AgentError', code: 'aborted', cause: reason };
    await expect(call(AbortSignal.abort(reason))).rejects.toMatchObject(aborted);
    const stop = new AbortController();
    silent.once('connection', () => stop.abort(reason));
    await expect(call(stop.signal)).rejects.toMatchObject(aborted);
  });

  // Accepts connections and never answers.
  const silent = createServer((socket) => socket.on('error', () => undefined).resume());
  beforeAll(async () => {
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
  });
  afterAll(() => silent.close());

  function served(): CheckOptions {
    const { port } = silent.address() as AddressInfo;
    return options({ mirrors: { '*': { endpoint: [`http://127.0.0.1:${port}`] } } });
  }
});
