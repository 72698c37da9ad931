import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { encodeText } from '@wins/trusted-files';
import { createCertificateAuthority } from '@wins/base/testing';
import { ImageLab, ociImage, tarOf } from '../testing/image-harness.js';
import { RegistryDouble } from '../testing/registry-harness.js';

let lab: ImageLab;
let registry: RegistryDouble;

beforeEach(async () => {
  lab = new ImageLab();
  registry = await RegistryDouble.start({ tls: true });
  registry.serve('some/img', 'v1', ociImage([await tarOf([{ name: 'run.sh', content: 'hello' }])]));
});
afterEach(async () => {
  await registry.close();
  lab.remove();
});

const HOST = () => registry.host;
const basic = (user: string, password: string) =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
/** Requests fail without this setting, so success shows that the entry with it was found. */
const ANY = 'insecure_skip_verify: true';

/** @param text - registries.yaml, where HOST and URL stand for the registry. */
async function unpack(text: string | Buffer, image = 'mirrored.invalid/some/img:v1') {
  const file = join(lab.root, 'registries.yaml');
  const filled = (content: string) =>
    content.replaceAll('HOST', HOST()).replaceAll('URL', registry.url);
  writeFileSync(file, typeof text === 'string' ? filled(text) : text);
  await lab.unpack(filled(image), { registriesFiles: [file] });
  expect(readFileSync(join(lab.folder, 'run.sh'), 'utf8')).toBe('hello');
}
const MIRROR = 'mirrors: { mirrored.invalid: { endpoint: [URL] } }\n';

describe('registries.yaml is read as Go reads it:', () => {
  it.each([
    [
      '* of configs is for hosts without an entry',
      `${MIRROR}configs: { "*": { tls: { ${ANY} } } }`,
    ],
    ['yes is true', `${MIRROR}configs: { HOST: { tls: { insecure_skip_verify: yes } } }`],
    ['On is true', `${MIRROR}configs: { HOST: { tls: { insecure_skip_verify: On } } }`],
    ['Y is true', `${MIRROR}configs: { HOST: { tls: { insecure_skip_verify: Y } } }`],
    [
      'an anchor is merged',
      `${MIRROR}x: &all { tls: { ${ANY} } }\nconfigs:\n  HOST:\n    <<: *all\n    auth:\n`,
    ],
    [
      'the first document counts',
      `---\n${MIRROR}configs: { HOST: { tls: { ${ANY} } } }\n---\na: 1`,
    ],
    [
      'a key that comes twice has the entries of both',
      `${MIRROR}configs: { HOST: { tls: { ${ANY} } } }\nmirrors: { other: {} }\nconfigs: { a: }`,
    ],
    [
      'a struct that comes twice has the keys of both',
      `${MIRROR}configs:\n  HOST:\n    tls: { ${ANY} }\n    tls: { ca_file: }\n`,
    ],
    [
      'of hosts that come twice the later one counts',
      `${MIRROR}configs:\n  HOST: { tls: { insecure_skip_verify: no } }\n  HOST: { tls: { ${ANY} } }`,
    ],
    [
      'lines may end with CR CR LF',
      `${MIRROR}configs:\n  HOST:\n    tls:\n      ${ANY}\n`.replaceAll('\n', '\r\r\n'),
    ],
    [
      'lines may end with CR',
      `${MIRROR}configs:\n  HOST:\n    tls:\n      ${ANY}\n`.replaceAll('\n', '\r'),
    ],
    [
      'what Rancher writes: JSON with null',
      `{"mirrors":{"mirrored.invalid":{"endpoint":["URL"],"rewrite":null},"x":null},"configs":{"HOST":{"auth":null,"tls":{"ca_file":"","${ANY.replace(':', '":')}}}}}`,
    ],
  ])('%s', async (_title, text) => {
    await unpack(text);
  });

  it.each(['utf-16le', 'utf-16be'] as const)('%s with its mark', async (encoding) => {
    const text = `${MIRROR}configs: { HOST: { tls: { ${ANY} } } }`;
    const filled = text.replaceAll('HOST', HOST()).replaceAll('URL', registry.url);
    await unpack(encodeText(`\ufeff${filled}`, encoding));
  });

  it.each([
    ['12345678', '12345678'],
    ['0123', '0123'],
    ['1_000', '1_000'],
    ['0x1f', '0x1f'],
    ['12e3', '12e3'],
    ['yes', 'yes'],
    ['1:30', '1:30'],
    ['2001-01-01', '2001-01-01'],
    ['"null"', 'null'],
    ['~', ''],
  ])('a password %s is the text %j', async (written, password) => {
    registry.gate = ({ headers }, response) => {
      if (headers.authorization === basic('1001', password)) return false;
      response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end();
      return true;
    };
    const auth = `auth: { username: 1001, password: ${written} }`;
    await unpack(`${MIRROR}configs: { HOST: { tls: { ${ANY} }, ${auth} } }`);
  });

  it('says how many documents are not used', async () => {
    await unpack(`${MIRROR}configs: { HOST: { tls: { ${ANY} } } }\n---\n---\n`);
    expect(lab.warnings).toEqual([
      expect.stringMatching(/^only the first document of .* is used: 2 more follow$/),
    ]);
  });

  it('may use an anchor for as many hosts as there are', async () => {
    const hosts = Array.from({ length: 500 }, (_, index) => `  h${index}: *all\n`).join('');
    await unpack(`${MIRROR}x: &all { tls: { ${ANY} } }\nconfigs:\n${hosts}  HOST: *all\n`);
  });

  it.each([
    ['['.repeat(200_000), 'found YAML in it that is nested too deeply'],
    ['a: [canary', 'found no YAML in it (line 1)'],
    [
      'configs:\n  a: {auth: {username: {canary: 1}}}',
      'found no string in "configs.a.auth.username" of it; wanted a string',
    ],
    ['configs: {a: {auth: canary}}', 'found no object in "configs.a.auth" of it; wanted an object'],
    [
      'mirrors: {a: {rewrite: [canary]}}',
      'found no object in "mirrors.a.rewrite" of it; wanted an',
    ],
    [
      'configs: {a: {tls: {ca_file: [canary]}}}',
      'in "configs.a.tls.ca_file" of it; wanted a string',
    ],
    [
      'configs: {a: {tls: {insecure_skip_verify: canary}}}',
      'found no yes or no in "configs.a.tls.insecure_skip_verify" of it; wanted yes or no',
    ],
    [
      'mirrors: {a: {endpoint: canary}}',
      'found no array in "mirrors.a.endpoint" of it; wanted an array',
    ],
    ['[canary]', 'found no object in it; wanted an object'],
  ])('%.60j is refused with its location, in plain words', async (text, found) => {
    const error: unknown = await unpack(text).catch((reason: unknown) => reason);
    expect(String(error)).toContain(found);
    expect(String(error)).not.toMatch(/canary|✖|\\u/);
  });
});

describe('auth in registries.yaml', () => {
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  /** The logins that the registry receives. It accepts `u:pw`. */
  async function shownFor(auth: object): Promise<readonly string[]> {
    const shown = new Set<string>();
    registry.gate = ({ headers }, response) => {
      shown.add(headers.authorization ?? 'none');
      if (headers.authorization === basic('u', 'pw')) return false;
      response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end();
      return true;
    };
    await unpack(`${MIRROR}configs: { HOST: { tls: { ${ANY} }, auth: ${JSON.stringify(auth)} } }`);
    return [...shown];
  }

  it.each([
    ['is the login', { auth: base64('u:pw') }],
    ['may lack its padding', { auth: base64('u:pw').replaceAll('=', '') }],
    ['may have line ends', { auth: `${base64('u:pw')}\n` }],
    ['is not used beside a name', { username: 'u', password: 'pw', auth: base64('a:b') }],
    ['is not read beside a name', { username: 'u', password: 'pw', auth: 'canary' }],
  ])('%s', async (_title, auth) => {
    expect(await shownFor(auth)).toEqual(['none', basic('u', 'pw')]);
  });

  it.each(['canary', 'canary:x', base64('canary'), base64(':canary'), `${base64('u:canary')}=`])(
    'that is no login is refused before any registry is asked, and not shown: %s',
    async (auth) => {
      const text = `${MIRROR}configs: { HOST: { tls: { ${ANY} } }, h.example: { auth: { auth: "${auth}" } } }`;
      const error: unknown = await unpack(text).catch((reason: unknown) => reason);
      expect(String(error)).toContain(
        'found no base64 of name:password in "configs.h.example.auth.auth" of it; wanted base64 of name:password',
      );
      expect(String(error)).not.toMatch(/canary|Y2FuYXJ5/i);
      expect(registry.requests).toEqual([]);
    },
  );

  it("that is no login is refused in Docker's file, too", async () => {
    const dockerConfigFile = join(lab.root, 'docker.json');
    const write = (auths: object) => writeFileSync(dockerConfigFile, JSON.stringify({ auths }));
    const failure = () =>
      lab.unpack('m.invalid/a:v1', { dockerConfigFile }).catch((reason: unknown) => String(reason));
    for (const host of ['https://h.example/v1/', 'https://agent:canary@h.example/v1/']) {
      write({ [host]: { auth: base64('canary') } });
      const said = await failure();
      expect(said).toContain(
        `cannot read ${dockerConfigFile}: found no base64 of name:password in`,
      );
      expect(said).toMatch(/"auths\.https:\/\/(\*\*\*@)?h\.example\/v1\/\.auth"; wanted base64/);
      expect(said).not.toMatch(/canary|Y2FuYXJ5/i);
    }
    const identity = { auth: base64('00000000:'), identitytoken: 'x' };
    write({ a: {}, b: { auth: '' }, c: { auth: base64('u:p') }, d: identity });
    expect(await failure()).not.toContain('base64');
  });
});

describe('the entry of a host in registries.yaml', () => {
  /** The password that an endpoint receives, or `not asked`. */
  async function passwordFor(configs: object, endpoint: string): Promise<string> {
    const asked = await RegistryDouble.start();
    const shown: string[] = [];
    asked.gate = ({ headers }, response) => {
      shown.push(Buffer.from(headers.authorization?.slice(6) ?? '', 'base64').toString());
      response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end();
      return true;
    };
    const entries = Object.entries(configs).map(([name, password]) => [
      name.replace('HERE', asked.host),
      { auth: { username: 'u', password: String(password) } },
    ]);
    const text = {
      mirrors: { 'm.invalid': { endpoint: [endpoint.replace('HERE', asked.host)] } },
      configs: Object.fromEntries(entries) as object,
    };
    await unpack(JSON.stringify(text), 'm.invalid/some/img:v1').catch(() => undefined);
    await asked.close();
    return shown.at(-1) ?? 'not asked';
  }

  it.each([
    [{ HERE: 'own', '*': 'any' }, 'u:own'],
    [{ other: 'other', '*': 'any' }, 'u:any'],
    [{ other: 'other' }, ''],
  ])('%j: a host is shown %j', async (configs, password) => {
    expect(await passwordFor(configs, 'http://HERE')).toBe(password);
  });

  it('may have the port that its scheme implies, or not', async () => {
    const { cert, key } = createCertificateAuthority('root').issue('h', ['127.0.0.1']);
    const file = join(lab.root, 'key.pem');
    writeFileSync(file, key + cert);
    for (const [endpoint, name, found] of [
      ['https://127.0.0.1:443', '127.0.0.1:443', true],
      ['https://127.0.0.1:443', '127.0.0.1', true],
      ['https://127.0.0.1', '127.0.0.1:443', true],
      ['https://127.0.0.1', '127.0.0.1:80', false],
    ] as const) {
      const text = {
        mirrors: { 'm.invalid': { endpoint: [endpoint] } },
        configs: { [name]: { tls: { ca_file: join(lab.root, 'absent') } } },
      };
      const error: unknown = await unpack(JSON.stringify(text), 'm.invalid/a:v1').catch(
        (reason: unknown) => reason,
      );
      // An attempt to read the entry's file shows that the entry was found.
      expect([endpoint, name, String(error).includes('absent')]).toEqual([endpoint, name, found]);
    }
  });

  it.each([
    ['h.invalid/some/img:v1', 'h.invalid:443'],
    ['h.invalid/some/img:v1', 'h.invalid:80'],
    ['h.invalid:443/some/img:v1', 'h.invalid'],
    ['h.invalid:443/some/img:v1', 'h.invalid:443'],
    ['h.invalid/some/img:v1', 'H.Invalid'],
  ])('the image %s has the mirrors of %s', async (image, name) => {
    const tls = `configs: { HOST: { tls: { ${ANY} } } }`;
    await unpack(`mirrors: { "${name}": { endpoint: [URL] } }\n${tls}`, image);
    expect(registry.requests[0]?.path).toContain(
      `?ns=${encodeURIComponent(image.split('/')[0] ?? '')}`,
    );
  });

  it('that is empty has no mirrors, also where * has some', async () => {
    const unpacking = unpack(
      `mirrors: { m.invalid: , "*": { endpoint: [URL] } }`,
      'm.invalid/a:v1',
    );
    await expect(unpacking).rejects.toThrow('m.invalid:443');
    expect(registry.requests).toEqual([]);
  });

  it('is refused with a certificate to show that has no key', async () => {
    const file = join(lab.root, 'cert.pem');
    writeFileSync(file, 'x');
    const text = `${MIRROR}configs: { HOST: { tls: { cert_file: ${file} } } }`;
    await expect(unpack(text)).rejects.toThrow('found one of cert_file and key_file');
  });

  it('of a mirror under the name of its registry asks for no other', async () => {
    await unpack(
      `mirrors: { HOST: { endpoint: [URL] } }\nconfigs: { HOST: { tls: { ${ANY} } } }`,
      'HOST/some/img:v1',
    );
    expect(registry.requests[0]?.path).toBe('/v2/some/img/manifests/v1');
  });
});
