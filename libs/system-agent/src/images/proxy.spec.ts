import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { ImageLab, ociImage, tarOf } from '../testing/image-harness.js';
import { RegistryDouble } from '../testing/registry-harness.js';

it('a registry is asked through a proxy, and TLS ends at the registry', async () => {
  const lab = new ImageLab();
  const registry = await RegistryDouble.start({ tls: true });
  registry.serve('some/img', 'v1', ociImage([await tarOf([{ name: 'run.sh', content: 'hello' }])]));
  const asked = new Set<string | undefined>();
  const proxy = createServer();
  proxy.on('connect', (request, client) => {
    asked.add(request.url);
    const [host = '', port] = registry.host.split(':');
    const target = connect(Number(port), host, () => client.write('HTTP/1.1 200 OK\r\n\r\n'));
    target.pipe(client).pipe(target);
    target.on('error', () => client.destroy());
    client.on('error', () => target.destroy());
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const proxies = { httpsProxy: `http://127.0.0.1:${(proxy.address() as { port: number }).port}` };
  const file = join(lab.root, 'registries.yaml');
  writeFileSync(file, 'configs: { registry.invalid: { tls: { insecure_skip_verify: true } } }');
  await lab.unpack('registry.invalid/some/img:v1', { registriesFiles: [file], proxies });
  expect(readFileSync(join(lab.folder, 'run.sh'), 'utf8')).toBe('hello');
  await expect(lab.unpack('registry.invalid/some/img:v1', { proxies })).rejects.toMatchObject({
    code: 'unreachable',
    message: expect.stringContaining('self-signed certificate') as unknown,
  });
  await expect(
    lab.unpack('registry.invalid/some/img:v1', { proxies: { httpsProxy: 'agent:canary' } }),
  ).rejects.toMatchObject({
    code: 'imageFailed',
    message: expect.not.stringContaining('canary') as unknown,
  });
  expect([...asked]).toEqual(['registry.invalid:443']);
  proxy.close();
  await registry.close();
  lab.remove();
});
