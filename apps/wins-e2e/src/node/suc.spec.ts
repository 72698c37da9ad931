import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { nodeRelease } from '../testing/node/node-release.js';
import { verifiedCopy } from '../testing/upgrade/verified-copy.js';
import { CANARY, NodeWorld, startCluster, type Cluster } from '../testing/node/node-world.js';

describe('wins suc', () => {
  let cluster: Cluster;
  let world: NodeWorld;
  const ask = async (variables: NodeJS.ProcessEnv = {}, program?: string) => {
    const said = await world.say(['suc', '--wait', '10s'], variables, program);
    expect(said.reason + said.stderr).not.toContain(CANARY);
    return said;
  };

  beforeAll(async () => {
    cluster = await startCluster();
    world = new NodeWorld();
    const said = await world.say(['join'], cluster.variables);
    expect([said.code, said.reason]).toEqual([0, 'the node is in the requested state']);
  });
  afterAll(async () => {
    await world[Symbol.asyncDispose]();
    await cluster[Symbol.asyncDispose]();
  });

  it('changes nothing, and leaves the daemon running, when nothing is set or nothing is new', async () => {
    const { pid } = world;
    const before = world.snapshot();
    for (const variables of [{}, cluster.variables]) {
      const said = await ask(variables);
      expect([said.code, said.outcome]).toEqual([0, 'nothing']);
    }
    expect(world.snapshot()).toEqual(before);
    expect(world.pid).toBe(pid);
  });

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
    const write = async (text: string) => {
      writeFileSync(world.config, text);
      expect((await world.wins(['srv', 'config', 'reload'])).code).toBe(0);
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
    await write(config);
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

  it('is refused with a server without its token, or the other way round, and says what is missing', async () => {
    const { CATTLE_SERVER, CATTLE_TOKEN } = cluster.variables;
    for (const [variables, missing] of [
      [{ CATTLE_SERVER }, 'CATTLE_TOKEN'],
      [{ CATTLE_TOKEN }, 'CATTLE_SERVER'],
    ] as const) {
      const said = await ask(variables);
      expect([said.code, said.reason]).toEqual([64, expect.stringContaining(missing)]);
    }
  });

  it('prints a plan in a dry run and changes nothing', async () => {
    const before = world.snapshot();
    const said = await world.say(['suc', '--dry-run'], { CATTLE_WINS_DEBUG: 'true' });
    expect([said.code, said.outcome]).toEqual([0, 'planned']);
    expect(world.snapshot()).toEqual(before);
  });

  it('updates a joined node, while wins install, which would disconnect it, is refused', async () => {
    const before = world.snapshot();
    const said = await world.say(['install']);
    expect([said.code, said.outcome]).toEqual([65, 'refused']);
    expect(said.reason).toContain('wins leave');
    expect(world.snapshot()).toEqual(before);
  });

  it('changes settings that are set, and needs no restart for how the service is started', async () => {
    const { pid } = world;
    const said = await ask({ CATTLE_ENABLE_WINS_DELAYED_START: 'true' });
    expect([said.code, said.outcome]).toEqual([0, 'installed']);
    expect(world.service?.startType).toBe('delayed');
    expect(world.pid).toBe(pid);
    expect((await ask()).outcome).toBe('nothing');
    expect(world.service?.startType).toBe('delayed');
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

  it('restarts the daemon once for authorities and a token that have changed', async () => {
    const { pid } = world;
    cluster.rancher.rotate();
    const token = cluster.api.adminToken;
    cluster.rancher.connectionInfo = JSON.parse(cluster.api.connectionInfo({ token })) as unknown;
    const said = await ask(cluster.variables);
    expect([said.code, said.reason]).toEqual([0, 'the node is in the requested state']);
    expect(said.steps?.filter((step) => step.includes('start rancher-wins'))).toHaveLength(1);
    expect(world.text(world.authorities)).toBe(cluster.rancher.ca);
    expect(world.filesWith(token)).toEqual(['var/lib/rancher/agent/rancher2_connection_info.json']);
    expect(world.pid).not.toBe(pid);
    expect((await ask(cluster.variables)).outcome).toBe('nothing');
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
    // Once the command reports the roll-back, the old daemon serves.
    expect(await world.serves()).toBe(true);
    expect(world.snapshot()).toEqual(before);
    expect(await world.version()).toBe('v1.0.0');
  });

  it('replaces the program by a newer one, and not by an older', async () => {
    const { pid } = world;
    const newer = nodeRelease(world.workspace, 'v1.1.0');
    const said = await ask({}, newer);
    expect([said.code, said.reason]).toEqual([0, 'the node is in the requested state']);
    expect(world.pid).not.toBe(pid);
    expect(world.text(world.program)).toBe(world.text(newer));
    expect(await world.version()).toBe('v1.1.0');
    const older = await ask();
    expect([older.code, older.outcome]).toEqual([65, 'refused']);
    expect(older.reason).toContain('v1.1.0');
    const { outcome } = await ask({ CATTLE_WINS_SKIP_BINARY_UPGRADE: 'true' });
    expect(outcome).toBe('nothing');
  });

  it('leaves the old daemon serving when the new one does not', async () => {
    const before = world.text(world.program);
    const more = `if (args[1] === 'app' && args[2] === 'run') process.exit(1);`;
    const said = await world.say(
      ['suc', '--wait', '10s'],
      {},
      nodeRelease(world.workspace, 'v1.2.0', more),
    );
    expect([said.code, said.outcome]).toEqual([1, 'rolledBack']);
    expect(world.text(world.program)).toBe(before);
    expect(await world.version()).toBe('v1.1.0');
  });

  it('asks no server for a node that has left, and refuses one without wins, of which upgrades leave nothing', async () => {
    const skip = { CATTLE_WINS_SKIP_BINARY_UPGRADE: 'true' };
    expect((await world.say(['leave'])).outcome).toBe('left');
    const count = cluster.rancher.requests.length;
    const said = await ask({ ...cluster.variables, ...skip });
    expect([said.code, said.outcome]).toEqual([65, 'refused']);
    expect(said.reason).toContain(world.nodeId);
    expect(cluster.rancher.requests).toHaveLength(count);
    const gone = await world.say(['uninstall']);
    expect([gone.code, gone.outcome, gone.kept]).toEqual([0, 'uninstalled', undefined]);
    await using empty = new NodeWorld();
    const none = await empty.say(['suc']);
    expect([none.code, none.outcome]).toEqual([65, 'refused']);
    expect(existsSync(empty.stateFolder)).toBe(false);
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
