import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startProxy, type ProxyDouble } from '@wins/net/testing';
import { ImageLab, ociImage, tarOf } from '../testing/image-harness.js';
import { RegistryDouble } from '../testing/registry-harness.js';

const IMAGE = 'registry.invalid/some/img:v1';
const user = { name: 'agent', password: 'canary' };
let lab: ImageLab;
let registry: RegistryDouble;
let proxy: ProxyDouble;

beforeEach(async () => {
  lab = new ImageLab();
  registry = await RegistryDouble.start({ tls: true });
  registry.serve('some/img', 'v1', ociImage([await tarOf([{ name: 'run.sh', content: 'hello' }])]));
  const port = Number(registry.host.split(':')[1]);
  proxy = await startProxy({ user, hosts: { 'registry.invalid:443': port } });
});
afterEach(async () => {
  await Promise.all([registry.close(), proxy.close()]);
  lab.remove();
});

function insecure() {
  const file = join(lab.root, 'registries.yaml');
  writeFileSync(file, 'configs: { registry.invalid: { tls: { insecure_skip_verify: true } } }');
  return { registriesFiles: [file] };
}
const environmentOf = (password: string) => ({
  HTTPS_PROXY: `http://agent:${password}@${proxy.host}`,
});

describe('a registry behind a proxy', () => {
  it('is asked through it by user and password, and TLS ends at the registry', async () => {
    const environment = environmentOf('canary');
    await lab.unpack(IMAGE, { ...insecure(), environment });
    expect(readFileSync(join(lab.folder, 'run.sh'), 'utf8')).toBe('hello');
    expect(new Set(proxy.requests.map(({ target }) => target))).toEqual(
      new Set(['registry.invalid:443']),
    );
    await expect(lab.unpack(IMAGE, { environment })).rejects.toMatchObject({
      code: 'unreachable',
      message: expect.stringContaining('is from an unknown authority') as unknown,
    });
  });

  it.each([
    ['does not take the password', { environment: () => environmentOf('other') }, 'status 407'],
    [
      'is none: its address is not repeated',
      { environment: () => ({ HTTPS_PROXY: 'socks5://agent:canary@x' }) },
      'cannot use HTTPS_PROXY',
    ],
    [
      'is not to be used for it',
      { environment: () => ({ ...environmentOf('canary'), NO_PROXY: '.invalid' }) },
      'the name of registry.invalid:443 cannot be resolved',
    ],
  ])('that %s', async (_title, { environment }, found) => {
    const error: unknown = await lab
      .unpack(IMAGE, { ...insecure(), environment: environment() })
      .catch((reason: unknown) => reason);
    expect(String(error)).toContain(found);
    expect(String(error)).not.toContain('canary');
    expect(registry.requests).toEqual([]);
  });
});
