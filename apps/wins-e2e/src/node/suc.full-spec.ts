import { existsSync } from 'node:fs';
import { nodeRelease } from '../testing/node/node-release.js';
import { JoinedNode } from '../testing/node/joined-node.js';
import { NodeWorld, type Cluster } from '../testing/node/node-world.js';

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
