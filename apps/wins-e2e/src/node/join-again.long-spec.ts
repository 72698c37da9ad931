import { existsSync, mkdirSync, rmdirSync, rmSync } from 'node:fs';
import { base64 } from '../testing/agent/plan-node.js';
import { CANARY, NodeWorld, startCluster, type Cluster } from '../testing/node/node-world.js';
import { until } from '../testing/process-table.js';

describe('a node whose server was restored to a time before it joined', () => {
  let cluster: Cluster;
  let world: NodeWorld;
  const FIRST = {
    CATTLE_NODE_NAME: 'one',
    CATTLE_TAINTS: 'a=b:NoSchedule',
    STRICT_VERIFY: 'true',
    CATTLE_ADDRESS: '10.0.0.5,fd00::5',
    CATTLE_ROLE_WORKER: 'true',
  };
  const told = () => {
    const all = cluster.rancher.requests.filter(({ path }) => path === '/v3/connect/agent');
    const { authorization: _token, ...headers } = all.at(-1)?.headers ?? {};
    return headers;
  };
  const again = (...args: string[]) =>
    world.say(['join', '--again', '--wait', '8s', ...args], { CATTLE_TOKEN: CANARY });

  beforeAll(async () => {
    cluster = await startCluster();
    world = new NodeWorld();
  });
  afterAll(async () => {
    await world[Symbol.asyncDispose]();
    await cluster[Symbol.asyncDispose]();
  });

  it('cannot join again before it has joined, and says what to do', async () => {
    const { code, reason } = await again();
    expect([code, reason]).toEqual([65, expect.stringContaining('there is no id of this node')]);
    expect(told()).toEqual({});
  });

  it('says that it is not known, and joins again as the same with a token alone', async () => {
    const said = await world.say(['join', '--label', 'c=d'], { ...cluster.variables, ...FIRST });
    expect([said.code, said.outcome]).toEqual([0, 'installed']);
    const first = told();
    const [config, nodeId] = [world.text(world.config), world.text(world.nodeId)];
    // The server has lost the token and the Secret of the node.
    cluster.api.rotateToken();
    cluster.api.remove();
    cluster.api.resetConnections();
    const status = async () => String((await world.wins(['srv', 'plan', 'status'])).stdout);
    let shown = await status();
    while (!shown.includes('remote: unregistered')) shown = await status();
    expect(shown).toContain('wins join --again');
    const dry = await again('--dry-run');
    expect([dry.code, dry.outcome]).toEqual([0, 'nothing']);
    cluster.rancher.connectionInfo = JSON.parse(cluster.api.connectionInfo()) as unknown;
    const back = await again();
    expect([back.code, back.outcome]).toEqual([0, 'installed']);
    expect(told()).toEqual(first);
    expect([world.text(world.config), world.text(world.nodeId)]).toEqual([config, nodeId]);
    const file = world.path('planned');
    const plan = { files: [{ path: file, content: base64('planned'), uid: -1, gid: -1 }] };
    cluster.api.create({ plan: JSON.stringify(plan) });
    await until(() => existsSync(file));
    expect(world.text(file)).toBe('planned');
    expect(world.filesWith(CANARY)).toEqual([]);
  });

  it('sends new settings in place of those that it sent before', async () => {
    const said = await world.say(['join', '--again', '--node-name', 'two', '--wait', '8s'], {
      CATTLE_TOKEN: CANARY,
      CATTLE_ADDRESS: '10.0.0.6',
    });
    expect(said.code).toBe(0);
    expect(told()).toMatchObject({
      'x-cattle-node-name': 'two',
      'x-cattle-address': '10.0.0.6',
      'x-cattle-taints': 'a=b:NoSchedule',
      'x-cattle-role-worker': 'true',
    });
  });

  it('is refused where nobody remembers how it joined', async () => {
    rmSync(world.path('var/lib/rancher/agent/applied/joined.json'));
    const { code, reason } = await again();
    expect(code).toBe(65);
    expect(reason).toMatch(/about how this node joined; run "wins join" without --again/);
  });

  it('has joined, although how cannot be written down, and says that', async () => {
    const file = world.path('var/lib/rancher/agent/applied/joined.json');
    mkdirSync(file);
    const { code, reason } = await world.say(['join'], cluster.variables);
    expect(code).toBe(0);
    expect(reason).toMatch(/"wins join --again" will not know these values: .* it is a folder/);
    rmdirSync(file);
  });

  it('leaves nothing of that behind', async () => {
    await world.say(['join'], cluster.variables);
    const gone = await world.say(['uninstall']);
    expect([gone.code, gone.outcome, gone.kept]).toEqual([0, 'uninstalled', undefined]);
  });
});
