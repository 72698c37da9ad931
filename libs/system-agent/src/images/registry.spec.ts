import { writeFileSync, readFileSync, readdirSync, chmodSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { gzipSync } from 'node:zlib';
import { createCertificateAuthority } from '@wins/base/testing';
import { digestOf, ImageLab, ociImage, ociIndex, tarOf } from '../testing/image-harness.js';
import { CA_FILE, RegistryDouble } from '../testing/registry-harness.js';
import type { ImageStoreOptions } from './store-options.js';

let lab: ImageLab;
let registry: RegistryDouble;
let other: RegistryDouble;
let image: ReturnType<typeof ociImage>;
let layer: Buffer;

beforeAll(async () => {
  layer = await tarOf([{ name: 'run.sh', mode: 0o755, content: 'hello' }]);
  image = ociImage([layer], [gzipSync(layer)]);
});
beforeEach(async () => {
  lab = new ImageLab();
  [registry, other] = [await RegistryDouble.start(), await RegistryDouble.start()];
  registry.serve('some/img', 'v1', image);
});
afterEach(async () => {
  await Promise.all([registry.close(), other.close()]);
  lab.remove();
});

const LAYER = () => `/v2/some/img/blobs/${digestOf(gzipSync(layer))}`;
const MANIFEST = '/v2/some/img/manifests/v1';
const unpack = (options: Partial<ImageStoreOptions> = {}, name = 'some/img:v1') =>
  lab.unpack(`${registry.host}/${name}`, options);
const failed = (part: string, code = 'imageFailed') => ({
  code,
  message: expect.stringContaining(part) as unknown,
});
const expectUnpacked = () => expect(readFileSync(join(lab.folder, 'run.sh'), 'utf8')).toBe('hello');

function registries(content: unknown) {
  const file = join(lab.root, 'registries.yaml');
  writeFileSync(file, JSON.stringify(content));
  return { registriesFiles: [file] };
}

function registriesOf({ configs, secure }: { configs?: object; secure: RegistryDouble }) {
  const mirrors = { [secure.host]: { endpoint: [secure.url] } };
  return registries({ mirrors, ...(configs && { configs }) });
}

describe('what a registry wants to know', () => {
  const password = { username: 'agent', password: 'canary' };
  const withPassword = () => registries({ configs: { [registry.host]: { auth: password } } });

  /** Requires a token from `realm` for everything. */
  function wantToken(realm: string, at: RegistryDouble) {
    const challenge = `Bearer realm="${realm}",service="test",scope="repository:some/img:pull"`;
    for (const path of [MANIFEST, LAYER(), `/v2/some/img/blobs/${image.manifest.config.digest}`])
      registry.answers.set(path, (request, response) => {
        if (request.headers.authorization !== 'Bearer abc')
          response.writeHead(401, { 'www-authenticate': challenge }).end();
        else response.end(registry.content.get(path.slice('/v2/'.length)));
      });
    at.answers.set('/token', (_, response) => response.end('{"token":"abc"}'));
  }

  it('is said by a token that it gives to everybody', async () => {
    wantToken(`${registry.url}/token`, registry);
    await unpack();
    expectUnpacked();
    const asked = registry.requests.filter(({ path }) => path.startsWith('/token'));
    expect(asked).toEqual([
      {
        path: '/token?service=test&scope=repository%3Asome%2Fimg%3Apull',
        authorization: undefined,
      },
    ]);
  });

  it('is said by a token that it gives for a password', async () => {
    wantToken(`${registry.url}/token`, registry);
    await unpack(withPassword());
    expectUnpacked();
    const basic = `Basic ${Buffer.from('agent:canary').toString('base64')}`;
    expect(registry.requests.filter(({ authorization }) => authorization === basic)).toHaveLength(
      1,
    );
  });

  it('is said by a token that it gives for an identity token', async () => {
    wantToken(`${registry.url}/token`, registry);
    let form = '';
    registry.answers.set('/token', (request, response) => {
      request.on('data', (part: Buffer) => (form += part.toString()));
      request.on('end', () => response.end('{"access_token":"abc"}'));
    });
    await unpack(
      registries({ configs: { [registry.host]: { auth: { identity_token: 'canary' } } } }),
    );
    expectUnpacked();
    expect(Object.fromEntries(new URLSearchParams(form))).toMatchObject({
      grant_type: 'refresh_token',
      refresh_token: 'canary',
      scope: 'repository:some/img:pull',
    });
  });

  it('is shown to no other server without HTTPS', async () => {
    wantToken(`http://localhost:${other.host.split(':')[1] ?? ''}/token`, other);
    await expect(unpack(withPassword())).rejects.toMatchObject(
      failed('found a server without HTTPS'),
    );
    expect(other.requests).toEqual([]);
  });

  it('is not sent to where the token server redirects', async () => {
    wantToken(`${registry.url}/token`, registry);
    registry.answers.set('/token', (_, response) =>
      response.writeHead(302, { location: `${other.url}/token` }).end(),
    );
    other.answers.set('/token', (_, response) => response.end('{"token":"abc"}'));
    await unpack(withPassword());
    expect(other.requests).toEqual([{ path: '/token', authorization: undefined }]);
  });

  it('is repeated by nobody, though the token server does', async () => {
    wantToken(`${registry.url}/token`, registry);
    const echo = 'agent:canary';
    registry.answers.set('/token', (_, response) => response.writeHead(503).end(echo));
    const error: unknown = await unpack(withPassword()).catch((reason: unknown) => reason);
    expect(error).toMatchObject(failed('found status 503 with "agent:***"'));
    expect(inspect([error, lab.warnings], { depth: 20 })).not.toContain('canary');
  });

  it.each([['no JSON'], ['{}'], ['{"token":"a\\r\\nb: c"}']])(
    'is not said by the token %j',
    async (answer) => {
      wantToken(`${registry.url}/token`, registry);
      registry.answers.set('/token', (_, response) => response.end(answer));
      await expect(unpack()).rejects.toMatchObject(failed('found an answer without a usable one'));
    },
  );

  it.each(['', 'Negotiate', '=,"', `Basic realm="${'x'.repeat(9000)}"`])(
    'is not said to the challenge %.12j',
    async (challenge) => {
      registry.answers.set(MANIFEST, (_, response) =>
        response.writeHead(401, { 'www-authenticate': challenge }).end(),
      );
      await expect(unpack(withPassword())).rejects.toMatchObject(
        failed('found no supported authentication scheme'),
      );
    },
  );
});

describe('a blob that lies elsewhere', () => {
  it('is fetched there, without what the registry was shown', async () => {
    other.content.set('blob', gzipSync(layer));
    const basic = 'Basic YWdlbnQ6Y2FuYXJ5';
    registry.answers.set(MANIFEST, (request, response) => {
      if (request.headers.authorization === basic) response.end(image.text);
      else response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end();
    });
    registry.answers.set(LAYER(), (_, response) =>
      response.writeHead(307, { location: `${other.url}/v2/blob?signature=canary` }).end(),
    );
    await unpack(
      registries({ configs: { [registry.host]: { auth: { auth: 'YWdlbnQ6Y2FuYXJ5' } } } }),
    );
    expectUnpacked();
    expect(registry.requests.at(-1)).toEqual({ path: LAYER(), authorization: basic });
    expect(other.requests).toEqual([
      { path: '/v2/blob?signature=canary', authorization: undefined },
    ]);
  });

  it('may be a base layer that the manifest says is elsewhere, by HTTPS', async () => {
    const secure = await RegistryDouble.start({ tls: true });
    secure.content.set('layer', gzipSync(layer));
    const urls = [
      `${other.url}/v2/layer`,
      'https://127.0.0.1:1/no-server',
      `${secure.url}/v2/absent`,
      `${secure.url}/v2/layer`,
    ];
    const layers = image.manifest.layers.map((descriptor) => ({ ...descriptor, urls }));
    const text = Buffer.from(JSON.stringify({ ...image.manifest, layers }));
    registry.content.set('some/img/manifests/v1', text);
    registry.content.delete(LAYER().slice('/v2/'.length));
    await unpack(registries({ configs: { [secure.host]: { tls: { ca_file: CA_FILE } } } }));
    expectUnpacked();
    expect(other.requests).toEqual([]);
    expect(secure.requests.map(({ path }) => path)).toEqual(['/v2/absent', '/v2/layer']);
    await secure.close();
  });

  it('is not fetched in circles', async () => {
    registry.answers.set(LAYER(), (_, response) =>
      response.writeHead(302, { location: LAYER() }).end(),
    );
    await expect(unpack()).rejects.toMatchObject(
      failed('found one more redirect; wanted at most 5'),
    );
  });

  it('is named in no error with what may be a secret', async () => {
    registry.answers.set(LAYER(), (_, response) =>
      response.writeHead(302, { location: 'http://127.0.0.1:1/blob?signature=canary' }).end(),
    );
    const error: unknown = await unpack().catch((reason: unknown) => reason);
    expect(error).toMatchObject(
      failed('no connection to 127.0.0.1:1: nothing listens there (ECONNREFUSED)', 'unreachable'),
    );
    expect(String(error)).not.toContain('canary');
  });
});

describe('a registry that is busy for a moment', () => {
  function fault(path: string, times: number, answer: (response: ServerResponse) => unknown) {
    let left = times;
    registry.answers.set(path, (_, response) => {
      left -= 1;
      if (left < 0) response.end(registry.content.get(path.slice('/v2/'.length)));
      else answer(response);
    });
  }

  it.each([
    ['says 503 to the manifest', () => MANIFEST, 503],
    ['says 429 to a layer', LAYER, 429],
    ['resets the connection of a layer', LAYER, undefined],
  ])('and %s is asked again', async (_title, path, status) => {
    fault(path(), 2, (response) =>
      status === undefined
        ? response.socket?.resetAndDestroy()
        : response.writeHead(status, { 'retry-after': '1' }).end(),
    );
    await unpack();
    expectUnpacked();
    expect(registry.requests.filter((each) => each.path === path())).toHaveLength(3);
    expect(lab.warnings.length).toBeGreaterThan(0);
  });

  it.each([
    ['from there on', (from: number, all: Buffer) => [206, `bytes ${from}-`, from, all] as const],
    ['as a whole', (_from: number, all: Buffer) => [200, '', 0, all] as const],
  ])('and ends a layer in its middle is asked again, and sends it %s', async (_title, again) => {
    const all = gzipSync(layer);
    const ranges: unknown[] = [];
    registry.answers.set(LAYER(), ({ headers: { range } }, response) => {
      ranges.push(range);
      const from = Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0);
      const isLast = ranges.length === 3;
      const [status, rest, begin] = again(from, all);
      if (range === undefined) response.writeHead(200, { 'content-length': all.length });
      else {
        const contentRange = rest && { 'content-range': `${rest}${all.length - 1}/${all.length}` };
        response.writeHead(status, { 'content-length': all.length - begin, ...contentRange });
      }
      const part = all.subarray(range === undefined ? 0 : begin, isLast ? undefined : from + 10);
      if (isLast) response.end(part);
      else response.write(part, () => response.destroy());
    });
    await unpack();
    expectUnpacked();
    expect(ranges).toEqual([undefined, 'bytes=10-', 'bytes=20-']);
  });

  it('and falls silent in the middle of a layer is asked for the rest', async () => {
    const all = gzipSync(layer);
    const ranges: unknown[] = [];
    registry.answers.set(LAYER(), ({ headers: { range } }, response) => {
      ranges.push(range);
      if (range === undefined) {
        response.writeHead(200, { 'content-length': all.length }).write(all.subarray(0, 10));
        return;
      }
      const contentRange = `bytes 10-${all.length - 1}/${all.length}`;
      response.writeHead(206, { 'content-range': contentRange }).end(all.subarray(10));
    });
    await unpack({ limits: { idleMs: 100 } });
    expectUnpacked();
    expect(ranges).toEqual([undefined, 'bytes=10-']);
  });

  it('is not waited for after three tries', async () => {
    fault(MANIFEST, 3, (response) => response.writeHead(503).end('busy'));
    await expect(unpack()).rejects.toMatchObject(
      failed('found status 503 with "busy"; wanted 200; tried 3 times'),
    );
    expect(registry.requests).toHaveLength(3);
  });
});

describe('a registry that lies', () => {
  it('is found out by the digest of the manifest', async () => {
    const digest = digestOf(Buffer.from('another'));
    registry.content.set(`some/img/manifests/${digest}`, image.text);
    await expect(unpack({}, `some/img@${digest}`)).rejects.toMatchObject(
      failed(`wanted ${digest}`),
    );
  });

  it('is found out by the digest of the config', async () => {
    const { digest } = image.manifest.config;
    const bytes = registry.content.get(`some/img/blobs/${digest}`) ?? Buffer.alloc(0);
    registry.content.set(
      `some/img/blobs/${digest}`,
      Buffer.from(bytes.toString().replace('rootfs', 'rootfz')),
    );
    await expect(unpack()).rejects.toMatchObject(failed(`wanted ${digest}`));
  });

  it('is detected by the digest of a layer', async () => {
    const bytes = Buffer.from(gzipSync(layer));
    // Changes the gzip header, but not the unpacked bytes.
    bytes[9] = 7;
    registry.content.set(LAYER().slice('/v2/'.length), bytes);
    await expect(unpack()).rejects.toMatchObject(failed('found the digest'));
  });

  it('is found out by the digest of an image in a list', async () => {
    registry.content.set(
      'some/img/manifests/v1',
      ociIndex([{ os: 'linux', architecture: 'amd64', text: image.text }]),
    );
    await unpack();
    registry.content.set(
      `some/img/manifests/${digestOf(image.text)}`,
      Buffer.from(image.text.toString() + ' '),
    );
    await expect(unpack()).rejects.toMatchObject(failed('found more than'));
  });

  it('is not believed that its layers have the size that they like', async () => {
    const text = image.text.toString().replace(/("layers":\[\{.*"size":)\d+/, '$14294967297');
    registry.content.set('some/img/manifests/v1', Buffer.from(text));
    await expect(unpack()).rejects.toMatchObject(
      failed('found 4294967297 bytes; wanted at most 4294967296'),
    );
    expect(registry.requests.map(({ path }) => path)).not.toContain(LAYER());
  });

  it.each([
    ['no JSON', 'found no JSON'],
    ['{"schemaVersion":1,"fsLayers":[]}', 'wanted schema version 2'],
    ['{"manifests":[]}', 'found 0 images for other platforms; wanted one for linux/amd64'],
  ])('is refused with the manifest %j', async (text, found) => {
    registry.content.set('some/img/manifests/v1', Buffer.from(text));
    await expect(unpack()).rejects.toMatchObject(failed(found));
  });

  it('is refused with a manifest that is a list as well', async () => {
    const both = JSON.stringify({ ...image.manifest, manifests: [] });
    registry.content.set('some/img/manifests/v1', Buffer.from(both));
    await expect(unpack()).rejects.toMatchObject(failed('an image and a list of images in one'));
  });

  it('is refused with lists that lead to themselves', async () => {
    const list = {
      manifests: [
        { digest: digestOf(layer), size: 9, platform: { os: 'linux', architecture: 'amd64' } },
      ],
    };
    registry.content.set('some/img/manifests/v1', Buffer.from(JSON.stringify(list)));
    registry.content.set(
      `some/img/manifests/${digestOf(layer)}`,
      Buffer.from(JSON.stringify(list)),
    );
    await expect(unpack()).rejects.toMatchObject({ code: 'imageFailed' });
  });
});

it('an image in a list that does not say its platform is one for linux/amd64, as for Go', async () => {
  const { mediaType, digest, size } = image.descriptor;
  const list = { schemaVersion: 2, manifests: [{ mediaType, digest, size }] };
  registry.content.set('some/img/manifests/v1', Buffer.from(JSON.stringify(list)));
  await unpack();
  expectUnpacked();
  await expect(unpack({ platform: { os: 'windows', arch: 'amd64' } })).rejects.toMatchObject(
    failed('wanted one for windows/amd64'),
  );
});

describe('a registry that does not end', () => {
  const endless = (path: string) =>
    registry.answers.set(path, (_, response) => {
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(65536, ' ')));
      };
      response.on('drain', more);
      more();
    });

  it.each([
    ['manifest', () => MANIFEST, 'cannot read a manifest: found more than 1048576 bytes'],
    ['layer', LAYER, 'cannot read a layer: found more than'],
  ])('its %s is cut off', async (_, path, found) => {
    endless(path());
    await expect(unpack()).rejects.toMatchObject(failed(found));
  });

  it.each([
    ['before it answers', () => undefined],
    ['within its answer', (response: { write(text: string): unknown }) => void response.write('{')],
  ])('is given up when it is silent %s', async (_, begin) => {
    registry.answers.set(MANIFEST, (_request, response) => begin(response));
    await expect(unpack({ limits: { idleMs: 50 } })).rejects.toMatchObject(
      failed('cannot ask', 'unreachable'),
    );
  });

  it('is given up after the total time, even if a byte arrives now and then', async () => {
    let timeIsUp = (): void => undefined;
    const waits: number[] = [];
    const clock = {
      now: () => new Date(),
      monotonicMs: () => performance.now(),
      wait: async (ms: number) => {
        waits.push(ms);
        await new Promise<void>((resolve) => (timeIsUp = resolve));
      },
    };
    let drips = 0;
    registry.answers.set(LAYER(), (_, response) => {
      const drip = () => {
        drips += 1;
        if (drips === 10) timeIsUp();
        if (!response.destroyed) response.write('\u001f', () => setImmediate(drip));
      };
      response.writeHead(200, { 'content-length': 1e6 });
      drip();
    });
    registry.content.set(
      'some/img/manifests/v1',
      Buffer.from(image.text.toString().replace(/("layers":\[\{.*"size":)\d+/, '$11000000')),
    );
    await expect(unpack({ clock })).rejects.toMatchObject(failed('found no end within 7200000 ms'));
    expect([waits, drips >= 10]).toEqual([[7_200_000], true]);
  });

  it('ends with the reason of the signal', async () => {
    const stop = new AbortController();
    registry.answers.set(MANIFEST, () => stop.abort(new Error('told to stop')));
    const unpacking = lab
      .store()
      .unpack(`${registry.host}/some/img:v1`, lab.folder, { signal: stop.signal });
    await expect(unpacking).rejects.toMatchObject({
      name: 'AgentError',
      code: 'aborted',
      cause: { message: 'told to stop' },
    });
  });

  it('is unreachable when it breaks off', async () => {
    registry.answers.set(LAYER(), (_, response) => {
      response.writeHead(200, { 'content-length': gzipSync(layer).length });
      response.write('x', () => response.destroy());
    });
    await expect(unpack()).rejects.toMatchObject(failed('cannot ask', 'unreachable'));
  });

  it('is unreachable when it breaks off within a file', async () => {
    const large = await tarOf([{ name: 'large', content: Buffer.alloc(300_000, 'x') }]);
    const big = ociImage([large]);
    registry.serve('some/img', 'v1', big);
    registry.answers.set(`/v2/some/img/blobs/${digestOf(large)}`, (_, response) => {
      response.writeHead(200, { 'content-length': large.length });
      response.write(large.subarray(0, 200_000), () => response.destroy());
    });
    await expect(unpack()).rejects.toMatchObject(failed('cannot ask', 'unreachable'));
  });

  it('is unreachable when nothing listens', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    server.close();
    await once(server, 'close');
    await expect(lab.unpack(`127.0.0.1:${port}/none/img:v1`)).rejects.toMatchObject(
      failed('ECONNREFUSED', 'unreachable'),
    );
  });
});

it('a folder that is not there is an error of ours', async () => {
  const unpacking = lab.store().unpack(`${registry.host}/some/img:v1`, join(lab.root, 'absent'), {
    signal: AbortSignal.timeout(60_000),
  });
  await expect(unpacking).rejects.toMatchObject(failed('ENOENT'));
});

describe('registries.yaml', () => {
  const mirror = (name: string, endpoints: string[], rewrite = {}) =>
    registries({ mirrors: { [name]: { endpoint: endpoints, rewrite } } });

  it.each(['docker.io', '*'])(
    'names mirrors for %s, which are asked in their order',
    async (name) => {
      await lab.unpack('some/img:v1', mirror(name, [other.url, registry.url]));
      expectUnpacked();
      expect(other.requests.map(({ path }) => path)).toEqual([`${MANIFEST}?ns=docker.io`]);
    },
  );

  it('rewrites names for mirrors, as Go does', async () => {
    registry.serve('cache/hub/some', 'v1', image);
    await lab.unpack(
      'some/img:v1',
      mirror('docker.io', [registry.url], {
        '^nothing$': 'x',
        '^(?P<team>[^/]+)/(.*)$': 'cache/hub/${team}',
      }),
    );
    expectUnpacked();
  });

  it('asks the registry itself when no mirror has it', async () => {
    await unpack(mirror(registry.host, [other.url], { '^': 'cache/' }));
    expectUnpacked();
    const namespace = encodeURIComponent(registry.host);
    expect(other.requests.map(({ path }) => path)).toEqual([
      `/v2/cache/some/img/manifests/v1?ns=${namespace}`,
    ]);
  });

  it('may have a path in the place of /v2', async () => {
    for (const [path, bytes] of registry.content) other.content.set(`proxy/${path}`, bytes);
    await unpack(mirror(registry.host, [`${other.url}/v2/proxy/`]));
    expect(registry.requests).toEqual([]);
    expectUnpacked();
  });

  it('says whom a mirror with TLS is trusted by', async () => {
    const secure = await RegistryDouble.start({ tls: true });
    secure.serve('some/img', 'v1', image);
    const settings = (tls: object) => ({
      mirrors: {
        'docker.io': { endpoint: [secure.url] },
        'registry.invalid': { endpoint: [secure.url] },
      },
      configs: { [secure.host]: { tls } },
    });
    const get = (tls: object) =>
      lab.unpack('registry.invalid/some/img:v1', registries(settings(tls)));
    await expect(get({})).rejects.toMatchObject(
      failed('is from an unknown authority', 'unreachable'),
    );
    await get({ ca_file: CA_FILE });
    await get({ insecure_skip_verify: true });
    expectUnpacked();
    await expect(get({ ca_file: join(lab.root, 'absent.pem') })).rejects.toMatchObject(
      failed('found no file'),
    );
    await secure.close();
  });

  it('may name as ca_file one with a broken block beside the authority, which is told, but none with nothing else', async () => {
    const secure = await RegistryDouble.start({ tls: true });
    secure.serve('some/img', 'v1', image);
    const file = join(lab.root, 'ca.pem');
    const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
    const configs = { [secure.host]: { tls: { ca_file: file } } };
    const get = () => lab.unpack(`${secure.host}/some/img:v1`, registriesOf({ configs, secure }));
    writeFileSync(file, broken + readFileSync(CA_FILE, 'utf8'));
    await get();
    expectUnpacked();
    expect(lab.warnings).toContainEqual(expect.stringMatching(/^ignoring block 1 of ".*ca.pem"/));
    writeFileSync(file, broken);
    await expect(get()).rejects.toMatchObject(failed('no certificate that can be read'));
    await secure.close();
  });

  it.each(['root', 'between', 'leaf'] as const)(
    'may name as ca_file the %s of a registry, or the system may know it',
    async (which) => {
      const root = createCertificateAuthority('root');
      const between = createCertificateAuthority('between', root);
      const leaf = between.issue('registry', ['127.0.0.1']);
      const pem = { root: root.cert + between.cert, between: between.cert, leaf: leaf.cert };
      const secure = await RegistryDouble.start({ tls: leaf });
      secure.serve('some/img', 'v1', image);
      const file = join(lab.root, 'ca.pem');
      writeFileSync(file, pem[which]);
      const configs = { [secure.host]: { tls: { ca_file: file } } };
      await lab.unpack(`${secure.host}/some/img:v1`, registriesOf({ configs, secure }));
      expectUnpacked();
      const environment = { SSL_CERT_FILE: file };
      if (process.platform === 'linux')
        await lab.unpack(`${secure.host}/some/img:v1`, {
          ...registriesOf({ secure }),
          environment,
        });
      await secure.close();
    },
  );

  it('does not let a registry with TLS send us to one without', async () => {
    const secure = await RegistryDouble.start({ tls: true });
    secure.serve('some/img', 'v1', image);
    secure.answers.set(LAYER(), (_, response) =>
      response.writeHead(302, { location: `${registry.url}${LAYER()}` }).end(),
    );
    const settings = {
      mirrors: { '*': { endpoint: [secure.url] } },
      configs: { [secure.host]: { tls: { ca_file: CA_FILE } } },
    };
    await expect(lab.unpack('some/img:v1', registries(settings))).rejects.toMatchObject(
      failed('wanted https://'),
    );
    expect(registry.requests).toEqual([]);
    await secure.close();
  });

  it.each([
    ['{"mirrors":{"*":{"endpoint":["http://user:canary@x"]}}}', 'wanted an address such as'],
    ['{"mirrors":{"*":{"endpoint":["ftp://x y"]}}}', 'wanted an address such as'],
    ['{"mirrors":{"*":{"rewrite":{"(":"x"}}}}', 'wanted a regular expression'],
    ['configs: [canary', 'found no YAML'],
    ['{"configs":{"a":{"auth":{"password":["canary"]}}}}', 'configs.a.auth.password'],
  ])('is refused with %j', async (text, found) => {
    const file = join(lab.root, 'registries.yaml');
    writeFileSync(file, text);
    const error: unknown = await lab
      .unpack('registry.invalid/img:v1', { registriesFiles: [file] })
      .catch((reason: unknown) => reason);
    expect(error).toMatchObject(failed(found));
    expect(String(error)).not.toContain('canary');
  });

  it('is refused when others can write to it', async () => {
    const options = registries({});
    chmodSync(options.registriesFiles[0] ?? '', 0o666);
    await expect(unpack(options)).rejects.toMatchObject(failed('can write to it'));
    expect(registry.requests).toEqual([]);
  });
});

it.each([
  '',
  'a b',
  'some/UPPER',
  'a//b',
  'img:',
  'img@sha256:1',
  'x'.repeat(600),
  '../../v1',
  'host:5000/../x',
])('the reference %.20j is refused before anything is asked', async (reference) => {
  await expect(lab.unpack(reference)).rejects.toMatchObject(failed('cannot find an image: found'));
  expect(readdirSync(lab.folder)).toEqual([]);
});
