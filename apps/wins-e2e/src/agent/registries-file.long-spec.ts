import { startProxy } from '@wins/net/testing';
import { createCertificateAuthority } from '@wins/base/testing';
import { startImageRegistry, type ImageRegistry } from '../testing/agent/image-registry.js';
import { PlanNode } from '../testing/agent/plan-node.js';

const pair = createCertificateAuthority('root').issue('server', ['127.0.0.1']);
const basic = (user: string, password: string) =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
const MIRROR = 'mirrors: { registry.invalid: { endpoint: ["https://HOST"] } }\n';
const ANY = 'tls: { insecure_skip_verify: true }';

/** Checks an image with the built program. `text` is the registries.yaml, where HOST becomes the registry's address. */
function check(registry: ImageRegistry, text: string, variables: object = {}) {
  const words = ['srv', 'registry', 'check', 'registry.invalid/some/img:v1', '-o', 'json'];
  return winsWith(registry, text, words, variables);
}

async function winsWith(
  registry: ImageRegistry,
  text: string,
  words: readonly string[],
  variables: object = {},
) {
  await using node = new PlanNode();
  Object.assign(node.workspace.variables, variables);
  const filled = text.replaceAll('HOST', `127.0.0.1:${registry.port}`);
  const isUtf16 = text.startsWith('\ufeff');
  const bytes = Buffer.from(filled, isUtf16 ? 'utf16le' : 'utf8');
  const agentRegistriesFile = node.workspace.write('r.yaml', bytes);
  const config = node.config({ localEnabled: true, agentRegistriesFile });
  const { code, stdout, stderr } = await node.wins(...words, '--config', config);
  return { code, said: `${String(stdout)}${stderr}`, stderr };
}

describe('a registries.yaml of a real cluster', () => {
  let registry: ImageRegistry;
  beforeEach(async () => (registry = await startImageRegistry(pair)));
  afterEach(() => registry[Symbol.asyncDispose]());

  it.each([
    ['mirrors: { a: [', 'found no YAML in it (line 1)'],
    ['configs: { a: { auth: canary } }', 'in "configs.a.auth" of it; wanted an object'],
    [
      'configs: { a: { auth: { auth: canary } } }',
      'found no base64 of name:password in "configs.a.auth.auth" of it; wanted base64 of name:password',
    ],
    ['configs: { a: { auth: { auth: Y2FuYXJ5 } } }', 'found no base64 of name:password'],
    ['mirrors: { registry.invalid: { rewrite: { "(?=x)": canary } } }', '(?=`'],
  ])('is refused with its location where it cannot be read: %s', async (text, found) => {
    const { code, said } = await check(registry, text);
    expect(code).not.toBe(0);
    expect(said).toContain(found);
    expect(said).not.toMatch(/canary|✖|\\u000a/);
  });

  it('has a login in auth, which is base64', async () => {
    registry.gate = ({ headers }, response) => {
      if (headers.authorization === basic('agent', 'pass:word')) return false;
      response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end();
      return true;
    };
    const auth = Buffer.from('agent:pass:word').toString('base64');
    for (const written of [auth, auth.replaceAll('=', '')]) {
      const text = `${MIRROR}configs: { HOST: { ${ANY}, auth: { auth: "${written}" } } }`;
      expect(await check(registry, text)).toMatchObject({ code: 0 });
    }
  });

  it.each([
    [
      `${MIRROR}configs: { HOST: { ${ANY} }, "http://HOST/v2/": { ${ANY} } }`,
      /"configs\.http:.*here "127/,
    ],
    [
      `mirrors: { registry.invalid: { endpoint: ["https://HOST"], 'endpoint"': [x] } }\nconfigs: { HOST: { ${ANY} } }`,
      /"mirrors\.registry\.invalid\.endpoint\\""/,
    ],
    [
      `mirrors: { registry.invalid: { endpoint: ["https://HOST"] }, configs: { HOST: { ${ANY} } } }\nconfigs: { HOST: { ${ANY} } }`,
      /"mirrors\.configs"/,
    ],
  ])('is used, and check and doctor warn of a key that nothing uses: %s', async (text, key) => {
    const warning = new RegExp(`^wins: warning: nothing uses ${key.source}`, 'm');
    expect(await check(registry, text)).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(warning) as string,
    });
    const doctor = await winsWith(registry, text, ['doctor', '--registries']);
    expect(doctor.said).toMatch(
      new RegExp(`^warning +registries +nothing uses ${key.source}`, 'm'),
    );
    expect(doctor.said).toMatch(/^ok +registries +https:/m);
    expect(doctor.said).not.toMatch(/^problem +registries/m);
  });

  it('gets an error that names the wrong proxy password', async () => {
    const user = { name: 'agent', password: 'right' };
    await using proxy = await startProxy({ user, hosts: {} });
    const variables = { HTTPS_PROXY: `http://agent:canary@${proxy.host}` };
    const { code, said } = await check(registry, '{}', variables);
    expect(code).toBe(1);
    expect(said).toContain('407');
    expect(said).not.toContain('canary');
  });
});
