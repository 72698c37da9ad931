import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { GO_NODE_ID, layOutAsGoScript, type GoLayout } from '../testing/node/go-layout.js';
import { NodeWorld, startCluster, type Cluster } from '../testing/node/node-world.js';

describe('an installation by the script of the Go release', () => {
  let cluster: Cluster;
  let world: NodeWorld;
  let go: GoLayout;

  beforeAll(async () => {
    cluster = await startCluster();
  });
  beforeEach(async () => {
    world = new NodeWorld();
    const authorities = cluster.rancher.ca;
    go = await layOutAsGoScript(world, {
      authorities,
      connectionInfo: cluster.api.connectionInfo(),
    });
  });
  afterEach(async () => {
    await go.csiProxy.stop();
    await world[Symbol.asyncDispose]();
  });
  afterAll(() => cluster[Symbol.asyncDispose]());

  /** Paths that a removal left behind, except folders shared with other programs. */
  const leftovers = () =>
    Object.keys(world.snapshot())
      .filter((name) => /^(etc|usr|var|windows)\//.test(name))
      .filter((name) => !['etc/rancher', 'var/lib', 'var/lib/rancher'].includes(name))
      .filter((name) => !/^usr\/local(\/bin)?$/.test(name));

  it('is adopted unchanged and then updated: identity, connection and foreign keys stay', async () => {
    const look = () => {
      // The daemon creates and removes this folder as needed.
      const { 'var/lib/rancher/agent/work': _work, ...files } = world.snapshot();
      return files;
    };
    const before = look();
    const { pid } = world;
    const said = await world.say(['install', '--adopt'], go.variables);
    expect([said.code, said.outcome]).toEqual([0, 'adopted']);
    expect(world.pid).toBe(pid);
    const { 'var/lib/wins-install': _folder, ...after } = look();
    const { 'var/lib/wins-install/install-manifest.json': manifest, ...rest } = after;
    expect([rest, manifest]).toEqual([before, expect.stringMatching(/^600 /)]);

    const suc = await world.say(['suc', '--wait', '10s'], {
      ...cluster.variables,
      ...go.variables,
      CATTLE_WINS_DEBUG: 'true',
      HTTPS_PROXY: '',
    });
    expect([suc.code, suc.reason]).toEqual([0, 'the node is in the requested state']);
    expect(world.pid).not.toBe(pid);
    expect(world.text(world.nodeId).trim()).toBe(GO_NODE_ID);
    expect(world.text(world.config)).toMatch(/debug: true\r\n/);
    expect(world.service?.environment).toEqual({ NO_PROXY: '127.0.0.1' });
    expect(world.service?.command).toContain(world.path('windows/wins.exe'));

    const gone = await world.say(['uninstall'], go.variables);
    expect([gone.code, gone.outcome, gone.kept]).toEqual([0, 'uninstalled', undefined]);
    expect(leftovers()).toEqual([]);
  });

  it('keeps the encoding of a config that someone saved in UTF-16', async () => {
    const text = world.text(world.config);
    writeFileSync(world.config, Buffer.from(`\uFEFF${text}`, 'utf16le'));
    expect((await world.say(['install', '--adopt'], go.variables)).code).toBe(0);
    const suc = await world.say(['suc', '--wait', '10s'], {
      ...cluster.variables,
      ...go.variables,
      CATTLE_WINS_DEBUG: 'true',
      HTTPS_PROXY: '',
    });
    expect([suc.code, suc.reason]).toEqual([0, 'the node is in the requested state']);
    const after = readFileSync(world.config).toString('utf16le');
    expect(after).toMatch(/^\uFEFF[^]*debug: true\r\n/);
    await world.say(['uninstall'], go.variables);
  });

  it('is adopted and removed in one command, with its csi-proxy and its elements of the PATH', async () => {
    const refused = await world.say(['uninstall'], go.variables);
    expect([refused.code, refused.reason]).toEqual([65, expect.stringContaining('--adopt')]);
    const dry = await world.say(['uninstall', '--adopt', '--dry-run'], go.variables);
    expect([dry.code, dry.outcome, existsSync(world.stateFolder)]).toEqual([0, 'planned', false]);
    // A config delivered to a Go daemon leaves these files.
    mkdirSync(`${world.config}.delivered`, { mode: 0o700 });
    writeFileSync(`${world.config}.delivered/0-1`, 'proxy: secret');
    const said = await world.say(['uninstall', '--adopt'], go.variables);
    expect([said.code, said.outcome, said.kept]).toEqual([0, 'uninstalled', undefined]);
    expect(leftovers()).toEqual([]);
    expect(world.system).toEqual({ services: {}, things: {} });
    expect(world.pid).toBeUndefined();
    expect([go.csiProxy.command, existsSync(go.csiProxyProgram)]).toEqual([undefined, false]);
    const again = await world.say(['uninstall', '--adopt'], go.variables);
    expect([again.code, again.outcome]).toEqual([0, 'nothing']);
  });

  it('keeps config, identity and connection on request, and joins with them again', async () => {
    const said = await world.say(['uninstall', '--adopt', '--keep-data'], go.variables);
    expect([said.code, said.outcome]).toEqual([0, 'uninstalled']);
    const data = [world.config, world.nodeId, world.connectionInfo, world.authorities];
    expect(data.map(existsSync)).toEqual([true, true, true, true]);
    expect(said.kept?.join('\n')).toMatch(/cattle-id: data is kept/);
    const programs = [world.program, world.path('windows/wins.exe')];
    expect(programs.map(existsSync)).toEqual([false, false]);
    expect(world.system).toMatchObject({ services: {} });
    const joined = await world.say(['join'], cluster.variables);
    expect([joined.code, joined.outcome]).toEqual([0, 'installed']);
    expect(world.text(world.nodeId).trim()).toBe(GO_NODE_ID);
    const gone = await world.say(['uninstall'], go.variables);
    expect([gone.code, gone.outcome, gone.kept]).toEqual([0, 'uninstalled', undefined]);
    expect(leftovers()).toEqual([]);
    expect(readdirSync(world.path('var/lib'))).toEqual(['rancher']);
  });
});
