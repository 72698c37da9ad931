import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { JoinedNode } from '../testing/node/joined-node.js';
import { nodeRelease } from '../testing/node/node-release.js';
import { NodeWorld, type Cluster } from '../testing/node/node-world.js';
import { Rke2OfNode } from '../testing/node/rke2-of-node.js';
import { verifiedCopy } from '../testing/upgrade/verified-copy.js';

it('wins suc makes rke2 depend on the daemon, and removes the dependency while it changes the daemon', async () => {
  await using world = new NodeWorld();
  expect((await world.say(['install'])).code).toBe(0);
  await using rke2 = await Rke2OfNode.start(world, false);
  const ask = (variables: NodeJS.ProcessEnv, program?: string, wait = '1m') =>
    world.say(['suc', '--wait', wait], variables, program);
  const { pid } = world;
  const linked = await ask({ CATTLE_ENABLE_WINS_SERVICE_DEPENDENCY: 'true' });
  expect([linked.outcome, rke2.dependencies, world.pid]).toEqual([
    'installed',
    ['rancher-wins'],
    pid,
  ]);

  const changed = await ask({ CATTLE_WINS_DEBUG: 'true' }, nodeRelease(world.workspace, 'v1.1.0'));
  expect(changed.steps?.map((step) => step.replace(/:? [/"].*/, ''))).toEqual([
    '1. remove dependency rke2 rancher-wins',
    '2. stop rancher-wins',
    '3. change file',
    '4. change program',
    '5. start rancher-wins',
    '6. make dependency rke2 rancher-wins',
    '7. wait until the daemon serves',
  ]);
  expect([await world.version(), rke2.isRunning, rke2.dependencies]).toEqual([
    'v1.1.0',
    true,
    ['rancher-wins'],
  ]);

  const deaf = `if (args[1] === 'app' && args[2] === 'run') process.exit(1);`;
  const undone = await ask({}, nodeRelease(world.workspace, 'v1.2.0', deaf), '10s');
  expect([undone.outcome, rke2.dependencies]).toEqual(['rolledBack', ['rancher-wins']]);
  expect(await world.version()).toBe('v1.1.0');

  const skip = { CATTLE_WINS_SKIP_BINARY_UPGRADE: 'true' };
  const refused = await world.say(['uninstall']);
  expect([refused.code, refused.reason]).toEqual([65, expect.stringContaining('rke2 is running')]);
  const freed = await ask({ ...skip, CATTLE_ENABLE_WINS_SERVICE_DEPENDENCY: 'false' });
  expect([freed.outcome, rke2.dependencies]).toEqual(['installed', []]);
  await ask({ ...skip, CATTLE_ENABLE_WINS_SERVICE_DEPENDENCY: 'true' });
  await rke2[Symbol.asyncDispose]();
  expect((await world.say(['uninstall'])).outcome).toBe('uninstalled');
  expect(rke2.dependencies).toEqual([]);
});

describe('wins suc', () => {
  let node: JoinedNode;
  let cluster: Cluster;
  let world: NodeWorld;
  const ask: JoinedNode['ask'] = (...args) => node.ask(...args);
  beforeAll(async () => {
    node = await JoinedNode.start();
    ({ cluster, world } = node);
  });
  afterAll(() => node[Symbol.asyncDispose]());

  it('restarts a daemon for manual changes that take effect at a start, and not for those that it has read', async () => {
    const { pid } = world;
    const config = world.text(world.config);
    const write = async (text: string, ...allowed: string[]) => {
      writeFileSync(world.config, text);
      const { code } = await world.wins(['srv', 'config', 'reload', ...allowed]);
      expect(code).toBe(0);
    };
    const listed = `${config}white_list:\n  proxyPorts: [9796]\n`;
    await write(listed);
    expect((await ask()).outcome).toBe('nothing');
    expect(world.pid).toBe(pid);
    await write(`${listed}reflection: true\n`);
    const said = await ask();
    expect([said.outcome, said.steps?.length]).toEqual(['installed', 3]);
    expect(world.pid).not.toBe(pid);
    expect((await ask()).outcome).toBe('nothing');
    await write(config, '--allow-drop', 'white_list');
    expect((await ask()).outcome).toBe('installed');
  });

  it('installs no program without a signature of a signer in the config', async () => {
    const { pid } = world;
    const config = world.text(world.config);
    const write = async (text: string, ...allowed: string[]) => {
      writeFileSync(world.config, text);
      expect((await world.wins(['srv', 'config', 'reload', ...allowed])).code).toBe(0);
    };
    await write(`${config}upgrade: { signedBy: ${'ab'.repeat(32)} }\n`);
    const before = world.snapshot();
    for (const variables of [{}, cluster.variables]) {
      const said = await ask(variables);
      expect([said.code, said.outcome]).toEqual([65, 'refused']);
      expect(said.reason).toMatch(/cannot install this program: it is not a PE file; .* abab/);
    }
    expect(world.snapshot()).toEqual(before);
    expect(world.pid).toBe(pid);
    await write(config, '--allow-drop', 'upgrade.signedBy');
    expect((await ask()).outcome).toBe('nothing');
  });

  it("is not ended by its daemon when it runs from the path of that daemon's verified copy", async () => {
    const config = world.text(world.config);
    const listed = world.workspace.path('wins-suc');
    const copy = verifiedCopy(world, process.execPath, 'wins-suc');
    writeFileSync(world.config, `${config}white_list:\n  processPaths: ['${listed}']\n`);
    expect((await ask()).code).toBe(0);
    writeFileSync(world.config, `${world.text(world.config)}reflection: true\n`);
    const words = [world.release, 'suc', '--wait', '10s', '-o', 'json'];
    const { code, signal, stdout } = await world.start(words, {}, copy).outcome;
    expect([code, signal]).toEqual([0, null]);
    expect(JSON.parse(String(stdout))).toMatchObject({ outcome: 'installed' });
    writeFileSync(world.config, config);
    expect((await ask()).outcome).toBe('installed');
  });

  it('gives the daemon another proxy and takes one away, with one restart each, and registers nothing', async () => {
    const count = cluster.rancher.requests.length;
    const password = 'canary-of-a-proxy';
    for (const [variables, environment] of [
      [
        { HTTPS_PROXY: `http://user:${password}@127.0.0.1:1`, NO_PROXY: '127.0.0.1' },
        { HTTPS_PROXY: `http://user:${password}@127.0.0.1:1`, NO_PROXY: '127.0.0.1' },
      ],
      [{ HTTPS_PROXY: '' }, { NO_PROXY: '127.0.0.1' }],
      [{ NO_PROXY: '' }, {}],
    ]) {
      const { pid } = world;
      const said = await ask(variables);
      expect([said.code, said.outcome]).toEqual([0, 'installed']);
      expect(said.steps?.join()).not.toContain(password);
      expect(world.service?.environment).toEqual(environment);
      expect(world.pid).not.toBe(pid);
      expect((await ask()).outcome).toBe('nothing');
    }
    expect(cluster.rancher.requests).toHaveLength(count);
  });

  it('leaves out a broken block beside the authority, with a warning', async () => {
    const { ca } = cluster.rancher;
    cluster.rancher.caCerts = `-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n${ca}`;
    const said = await world.say(['suc'], cluster.variables);
    cluster.rancher.caCerts = ca;
    expect([said.code, said.outcome]).toEqual([0, 'nothing']);
    expect(said.stderr).toMatch(/ignoring block 1 of .*\/cacerts: /);
    expect(world.text(world.authorities)).toBe(ca);
  });

  it('restores everything if the agent cannot reach its server with the new connection info', async () => {
    const before = world.snapshot();
    const good = cluster.rancher.connectionInfo;
    const server = 'https://127.0.0.1:1';
    cluster.rancher.connectionInfo = JSON.parse(cluster.api.connectionInfo({ server })) as unknown;
    const said = await world.say(['suc', '--wait', '10s'], cluster.variables);
    cluster.rancher.connectionInfo = good;
    expect([said.code, said.outcome]).toEqual([1, 'rolledBack']);
    expect(said.reason).toContain('has not reached its server');
    expect(await world.serves()).toBe(true);
    expect(world.snapshot()).toEqual(before);
    expect(await world.version()).toBe('v1.0.0');
  });
});

it('takes over an installation that another program made: nothing changes, and it can be removed', async () => {
  await using world = new NodeWorld();
  const said = await world.say(['install']);
  expect(said.code).toBe(0);
  // An installation by another program looks like this one, but has no manifest.
  rmSync(world.stateFolder, { recursive: true });
  const { pid } = world;
  const refused = await world.say(['uninstall']);
  expect([refused.code, refused.outcome]).toEqual([65, 'refused']);
  expect(refused.reason).toContain('--adopt');
  const dry = await world.say(['install', '--adopt', '--dry-run']);
  expect([dry.code, dry.outcome, existsSync(world.stateFolder)]).toEqual([0, 'planned', false]);
  const adopted = await world.say(['install', '--adopt']);
  expect([adopted.code, adopted.outcome]).toEqual([0, 'adopted']);
  expect(world.pid).toBe(pid);
  expect((await world.say(['install', '--adopt'])).outcome).toBe('nothing');
  const gone = await world.say(['uninstall']);
  expect([gone.code, gone.outcome]).toEqual([0, 'uninstalled']);
  expect(() => statSync(world.program)).toThrow('ENOENT');
  expect(world.system).toMatchObject({ services: {} });
  // Shared folders stay, because wins does not know who created them.
  expect(existsSync(world.path('usr/local/bin'))).toBe(true);
});
