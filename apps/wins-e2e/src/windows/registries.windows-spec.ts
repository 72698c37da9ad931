import { digestOf, tarOf } from '@wins/system-agent/testing';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { until, WindowsWorkspace } from './windows-workspace.js';

const PROTOCOL = 'credentialprovider.kubelet.k8s.io/v1';
const FOREIGN = 'application/vnd.docker.image.rootfs.foreign.diff.tar.gzip';
const BASIC = `Basic ${Buffer.from('agent:canary').toString('base64')}`;

describe('an image of a registry on Windows', () => {
  const workspace = new WindowsWorkspace();
  const content = new Map<string, Buffer>();
  const asked: string[] = [];
  const server = createServer(({ url = '', headers }, response) => {
    asked.push(url);
    const bytes = content.get(url);
    if (headers.authorization !== BASIC)
      response.writeHead(401, { 'www-authenticate': 'Basic realm="test"' }).end();
    else if (bytes === undefined) response.writeHead(404).end();
    else response.end(bytes);
  });
  const listed = workspace.path('listed.json');
  let host: string;
  let config: string;
  let absent: string;

  before(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const base = await tarOf([{ name: 'Files/Windows/base.dll', content: 'base' }]);
    absent = digestOf(base);
    const own = await tarOf([
      {
        name: 'Files/bin/list.cjs',
        content: `const { readdirSync, writeFileSync } = require('node:fs');
          writeFileSync(process.env.LISTED, JSON.stringify(readdirSync('.').sort()));`,
      },
    ]);
    const rootfs = { type: 'layers', diff_ids: [base, own].map(digestOf) };
    const about = Buffer.from(JSON.stringify({ os: 'windows', architecture: 'amd64', rootfs }));
    const described = (bytes: Buffer, mediaType: string) => ({
      mediaType,
      size: bytes.length,
      digest: digestOf(bytes),
    });
    const manifest = {
      config: described(about, 'application/vnd.docker.container.image.v1+json'),
      layers: [described(base, FOREIGN), described(own, 'application/vnd.oci.image.layer.v1.tar')],
    };
    content.set('/v2/some/img/manifests/v1', Buffer.from(JSON.stringify(manifest)));
    for (const bytes of [about, own]) content.set(`/v2/some/img/blobs/${digestOf(bytes)}`, bytes);

    const provider = workspace.program('test-provider');
    const auth = { [host]: { username: 'agent', password: 'canary' } };
    const kind = 'CredentialProviderResponse';
    const answer = { apiVersion: PROTOCOL, kind, cacheKeyType: 'Registry', auth };
    const script = workspace.script(
      'provide',
      `process.stdin.on('data', () => {}).on('end', () => process.stdout.write(${JSON.stringify(JSON.stringify(answer))}));`,
    );
    const providers = {
      apiVersion: 'kubelet.config.k8s.io/v1',
      kind: 'CredentialProviderConfig',
      providers: [
        {
          name: 'test-provider',
          matchImages: [host],
          defaultCacheDuration: '1h',
          apiVersion: PROTOCOL,
          args: [script],
        },
      ],
    };
    const tool = workspace.program('tool');
    const instruction = { name: 'list', image: `${host}/some/img:v1`, command: tool };
    const plan = {
      instructions: [{ ...instruction, args: ['list.cjs'], env: [`LISTED=${listed}`] }],
    };
    workspace.write('agent/plans/node.plan', JSON.stringify(plan));
    config = workspace.config([], [], {
      systemagent: {
        localEnabled: true,
        workDirectory: workspace.path('agent', 'work'),
        appliedPlanDirectory: workspace.path('agent', 'applied'),
        localPlanDirectory: workspace.path('agent', 'plans'),
        imagesDirectory: workspace.path('agent', 'images'),
        agentRegistriesFile: workspace.path('absent.yaml'),
        imageCredentialProviderConfig: workspace.write('p.json', JSON.stringify(providers)),
        imageCredentialProviderBinDirectory: provider.replace(/\\[^\\]*$/, ''),
      },
    });
  });
  after(async () => {
    server.close();
    server.closeAllConnections();
    await workspace.remove();
  });

  it('is found by the check with the login of a credential provider, whose .exe nobody has to write', async () => {
    const words = ['srv', 'registry', 'check', `${host}/some/img:v1`, '--config', config];
    const { code, stdout, stderr } = await workspace.run(...words);
    assert.deepEqual([code, stderr], [0, ''], String(stdout));
    assert.match(String(stdout), /login: the credential provider test-provider\r?\n/);
    assert.doesNotMatch(String(stdout), /canary/);
  });

  it('is unpacked by the daemon without Microsoft’s base layer, which is not asked for', async () => {
    const daemon = workspace.start('srv', 'app', 'run', '--config', config);
    await until(() => existsSync(listed) && readFileSync(listed, 'utf8') !== '');
    assert.deepEqual(JSON.parse(readFileSync(listed, 'utf8')), ['list.cjs']);
    assert.ok(asked.length > 3);
    assert.ok(!asked.some((url) => url.includes(absent)));
    daemon.child.kill();
    await daemon.outcome;
  });
});
