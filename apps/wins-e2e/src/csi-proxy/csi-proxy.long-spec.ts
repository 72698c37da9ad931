import { silent } from '@wins/rancher-client/testing';
import { HealthStatus } from '@wins/wins-api/contract';
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { runWins } from '../testing/built-program.js';
import { CANARY, CsiNode } from '../testing/csi-proxy/csi-node.js';
import { Daemon } from '../testing/daemon.js';
import { until } from '../testing/process-table.js';

describe('a node whose config wants csi-proxy', () => {
  let node: CsiNode;
  beforeAll(async () => {
    node = await CsiNode.start({ 'v1.1.3': 'three', 'v1.2.0': 'two' });
    await node.run(node.config({ version: 'v1.1.3' }));
    await node.reached('serving');
  });
  afterAll(() => node[Symbol.asyncDispose]());

  it('installs it as a running service, from a server that tls-config trusts', async () => {
    expect(await node.status()).toMatchObject({
      on: true,
      state: 'serving',
      wanted: { version: 'v1.1.3' },
    });
    expect(await node.service.isServing()).toBe(true);
    const { command } = node.service;
    expect(command?.program).toMatch(/csi-proxy\/v1\.1\.3-[0-9a-f]{12}\/csi-proxy\.exe$/);
    expect(command?.args).toEqual([
      '-windows-service',
      `-log_file=${node.workspace.path('csi-proxy.log')}`,
      '-logtostderr=false',
    ]);
  });

  it('reports it in status, health and doctor', async () => {
    const { stdout } = await node.wins('srv', 'csi-proxy', 'status');
    expect(String(stdout)).toMatch(/^serving: v1\.1\.3 serves\n {2}wanted: v1\.1\.3 from https:/);
    expect(await node.health('wins.csi-proxy')).toBe(HealthStatus.SERVING);
    const doctor = await node.wins('doctor');
    expect(String(doctor.stdout)).toMatch(/^ok +csi-proxy +v1\.1\.3 serves/m);
  });

  it('has each action in its audit log, and the signature of the URL nowhere', async () => {
    const { stdout } = await node.wins('srv', 'audit', 'show', '-o', 'json');
    const kinds = [...String(stdout).matchAll(/"kind":"(csiProxy\w+)"/g)].map(([, kind]) => kind);
    expect(kinds).toEqual(['csiProxyFetch', 'csiProxySwitch']);
    const told = [String(stdout), node.daemon.text, JSON.stringify(await node.status())];
    expect(told.join()).not.toContain(CANARY);
    expect(node.server.requests.map(({ path: asked }) => asked).join()).toContain(CANARY);
  });

  it('follows its config to another version, and a dry run shows the steps', async () => {
    node.config({ version: 'v1.2.0', args: ['-v=4'] });
    const reloaded = await node.wins('srv', 'config', 'reload');
    expect(reloaded.code).toBe(0);
    await node.reached('serving', /v1\.2\.0/);
    const { code } = await node.wins('srv', 'csi-proxy', 'apply');
    expect(code).toBe(0);
    expect(node.service.command?.args.at(-1)).toBe('-v=4');
    const dry = await node.wins('srv', 'csi-proxy', 'apply', '--dry-run');
    expect(String(dry.stdout)).toBe('rest: v1.2.0 serves\nnothing was done\n');
    expect(readdirSync(node.home).filter((name) => name.startsWith('v'))).toHaveLength(1);
  });

  it('keeps its csi-proxy and serves when the server lacks the file', async () => {
    const { pid } = node.service;
    node.config({ version: 'v1.3.0' });
    await node.wins('srv', 'config', 'reload');
    await node.reached('failed', /v1\.3\.0/);
    const { code, stdout } = await node.wins('srv', 'csi-proxy', 'apply');
    expect([code, String(stdout)]).toEqual([70, expect.stringMatching(/an HTML page/)]);
    expect(await node.status()).toMatchObject({
      state: 'failed',
      failure: { code: 'downloadFailed' },
    });
    expect(node.service.pid).toBe(pid);
    expect(await node.health('wins.csi-proxy')).toBe(HealthStatus.NOT_SERVING);
    expect(await node.health('')).toBe(HealthStatus.SERVING);
    const doctor = await node.wins('doctor');
    expect(String(doctor.stdout)).toMatch(/^problem +csi-proxy +cannot fetch/m);
  });

  it('stays when the daemon ends, and the next daemon finds it', async () => {
    node.config({ version: 'v1.2.0', args: ['-v=4'] });
    const { pid } = node.service;
    expect((await node.daemon.stop()).code).toBe(0);
    expect(await node.service.isServing()).toBe(true);
    await node.run(node.workspace.path('config'));
    await node.reached('serving');
    expect(node.service.pid).toBe(pid);
  });

  it('loses it with the section, when that is let go by name', async () => {
    node.config(undefined);
    const refused = await node.wins('srv', 'config', 'reload');
    expect([refused.code, refused.stderr]).toEqual([
      78,
      expect.stringContaining('--allow-drop csi-proxy'),
    ]);
    expect(await node.status()).toMatchObject({ on: true });
    await node.wins('srv', 'config', 'reload', '--allow-drop', 'csi-proxy');
    await until(() => !readdirSync(node.workspace.folder).includes('csi-proxy'));
    expect(node.service.command).toBeUndefined();
    const { code, stderr } = await node.wins('srv', 'csi-proxy', 'apply');
    expect([code, stderr]).toEqual([69, expect.stringMatching(/no section csi-proxy/)]);
    expect(await node.status()).toMatchObject({ on: false });
  });
});

describe('the proof that csi-proxy is genuine', () => {
  let node: CsiNode;
  beforeAll(async () => {
    node = await CsiNode.start({ 'v1.1.3': 'three' });
  });
  afterAll(() => node[Symbol.asyncDispose]());

  it('cannot be an unknown certificate', async () => {
    await node.run(node.config({ version: 'v1.1.3' }, {}));
    await node.reached('failed');
    expect((await node.status()).detail).toMatch(/authority/);
  });

  it('must be a digest if there is no certificate', async () => {
    node.config({ version: 'v1.1.3' }, { insecure: true });
    const checked = await node.wins('srv', 'config', 'check');
    expect([checked.code, checked.stderr]).toEqual([
      78,
      expect.stringMatching(/tls-config\.insecure: found true without a digest/),
    ]);
    await node.wins('srv', 'config', 'reload');
    while ((await node.status()).on) await delay(20);
    const { stderr } = await node.wins('srv', 'csi-proxy', 'apply');
    expect(stderr).toMatch(/tls-config\.insecure/);
    expect(node.service.command).toBeUndefined();
  });

  it('is the digest of the config, whatever the certificate is', async () => {
    const archive = node.server.assets.get('csi-proxy-v1.1.3.tar.gz') ?? '';
    const sha256 = createHash('sha256').update(archive).digest('hex');
    const insecure = { insecure: true };
    node.config({ version: 'v1.1.3', sha256: 'f'.repeat(64) }, insecure);
    await node.wins('srv', 'config', 'reload');
    await node.reached('failed', /digestMismatch/);
    const { code } = await node.wins('srv', 'csi-proxy', 'apply');
    expect(code).toBe(65);
    node.config({ version: 'v1.1.3', sha256 }, insecure);
    await node.wins('srv', 'config', 'reload');
    await node.reached('serving');
  });
});

it('csi-proxy that is being fetched from a silent server delays neither start nor end of the daemon', async () => {
  await using node = await CsiNode.start({});
  node.server.script('/assets/csi-proxy-v1.1.3.tar.gz', [silent]);
  await node.run(node.config({ version: 'v1.1.3' }));
  await node.reached('fetching');
  expect(await node.health('')).toBe(HealthStatus.SERVING);
  expect((await node.status()).state).toBe('fetching');
  expect((await node.daemon.stop()).code).toBe(0);
});

it('csi-proxy is refused with a message where there are no Windows services', async () => {
  await using node = await CsiNode.start({ 'v1.1.3': 'three' });
  const config = node.config({ version: 'v1.1.3' });
  await using daemon = await Daemon.start(node.workspace, config);
  await daemon.logged(({ key, nextStep }) => key === 'csi-proxy' && nextStep === 'remove it');
  const { stdout } = await runWins(
    ['srv', 'csi-proxy', 'status', '--config', config],
    node.workspace.environment,
  );
  expect(String(stdout)).toBe('csi-proxy is not managed: csi-proxy is for Windows nodes only\n');
});
