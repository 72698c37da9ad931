import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { ImageLab, ociImage, tarOf } from '../testing/image-harness.js';
import { RegistryDouble } from '../testing/registry-harness.js';
import { IDENTITY_TOKEN, REGISTRY_SHAPES, REGISTRY_USER } from '../testing/registry-shapes.js';

let lab: ImageLab;
let registry: RegistryDouble;
let storage: RegistryDouble;

beforeEach(async () => {
  lab = new ImageLab();
  [registry, storage] = [await RegistryDouble.start(), await RegistryDouble.start()];
  const image = ociImage([await tarOf([{ name: 'run.sh', content: 'hello' }])]);
  for (const one of [registry, storage]) one.serve('some/img', 'v1', image);
});
afterEach(async () => {
  await Promise.all([registry.close(), storage.close()]);
  lab.remove();
});

async function unpackWith(auth?: object) {
  const file = join(lab.root, 'registries.yaml');
  writeFileSync(file, JSON.stringify({ configs: auth && { [registry.host]: { auth } } }));
  await lab.unpack(`${registry.host}/some/img:v1`, { registriesFiles: [file] });
}
const expectUnpacked = () => expect(readFileSync(join(lab.folder, 'run.sh'), 'utf8')).toBe('hello');

describe.each(Object.entries(REGISTRY_SHAPES))('a registry that is like %s', (name, play) => {
  beforeEach(() => play(registry, storage));

  it('is shown name and password as they are written, once it wants to know', async () => {
    await unpackWith(REGISTRY_USER);
    expectUnpacked();
    expect(registry.requests[0]?.authorization).toBeUndefined();
    expect(storage.requests.every(({ authorization }) => authorization === undefined)).toBe(true);
  });

  it('refuses whom it does not know, and no message has a secret', async () => {
    const errors = [undefined, { username: 'another', password: REGISTRY_USER.password }].map(
      (auth) =>
        unpackWith(auth).then(
          () => 'unpacked',
          (error: unknown) => inspect([error, lab.warnings], { depth: 20 }),
        ),
    );
    for (const error of await Promise.all(errors)) {
      expect(error).toMatch(/found status 40[134]|no name and password/);
      expect(error).not.toContain('canary');
    }
  });

  it('says where the login is from that it has refused', async () => {
    const from = `configs.${registry.host} of registries.yaml`;
    await expect(unpackWith({ username: 'another', password: 'other' })).rejects.toThrow(
      `used ${from}`,
    );
  });

  if (!['Nexus', 'ECR'].includes(name))
    it('takes an identity token as a password where it knows no exchange', async () => {
      await unpackWith({ identity_token: IDENTITY_TOKEN });
      expectUnpacked();
    });
});

it('a registry that hides an image and asks for nobody is not shown anything', async () => {
  registry.gate = (_, response) => {
    response.writeHead(404).end();
    return true;
  };
  await expect(unpackWith(REGISTRY_USER)).rejects.toMatchObject({ code: 'imageFailed' });
  expect(registry.requests.map(({ path }) => path)).toEqual(['/v2/some/img/manifests/v1', '/v2/']);
  expect(registry.requests.every(({ authorization }) => authorization === undefined)).toBe(true);
});

it('what is hidden from strangers is looked for at /v2/ no more once the login was shown', async () => {
  REGISTRY_SHAPES['Nexus']?.(registry, storage);
  registry.content.delete('some/img/manifests/v1');
  await expect(unpackWith(REGISTRY_USER)).rejects.toThrow('found status 404');
  expect(registry.requests.filter(({ path }) => path === '/v2/')).toHaveLength(1);
});

describe('the token for an image', () => {
  const OWN = 'repository:some/img:pull';

  /** Hides images if `isHidden`. Returns the scopes that a pull asks for. */
  async function scopesAsked(challenge: { root: string; image: string }, isHidden: boolean) {
    const start = `Bearer realm="${registry.url}/token",service="test"`;
    registry.gate = ({ url = '', headers }, response) => {
      const isRoot = url === '/v2/';
      if (url.startsWith('/token')) response.end('{"token":"abc"}');
      else if (headers.authorization === 'Bearer abc') return false;
      else if (isHidden && !isRoot) response.writeHead(404).end();
      else
        response
          .writeHead(401, { 'www-authenticate': start + challenge[isRoot ? 'root' : 'image'] })
          .end();
      return true;
    };
    await unpackWith(REGISTRY_USER);
    return registry.requests
      .filter(({ path }) => path.startsWith('/token'))
      .map(({ path }) => new URL(path, registry.url).searchParams.getAll('scope'));
  }

  it.each([
    [
      'of its own challenge',
      ',scope="repository:else/where:pull"',
      false,
      'repository:else/where:pull',
    ],
    ['of its name, where its challenge has none', '', false, OWN],
    ['of its name, where its challenge has an empty one', ',scope=""', false, OWN],
    ['of its name, where it is hidden', '', true, OWN],
  ])('has the scope %s', async (_title, image, isHidden, scope) => {
    const root = ',scope="repository:user/image:pull"';
    expect(await scopesAsked({ root, image }, isHidden)).toEqual([[scope]]);
  });
});
