import { chmodSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { silent } from '@wins/rancher-client/testing';
import { nodeRelease } from '../testing/node/node-release.js';
import { CANARY, NodeWorld, startCluster, type Cluster } from '../testing/node/node-world.js';
import { standInExecutable } from '../testing/packages/package-folder.js';

describe('a node that cannot join', () => {
  let cluster: Cluster;

  beforeAll(async () => {
    cluster = await startCluster();
  });
  afterAll(() => cluster[Symbol.asyncDispose]());

  async function emptyNode() {
    const world = new NodeWorld();
    await world.wins(['install', '--dry-run']);
    return { world, before: world.snapshot() };
  }

  const tokensSent = ({ rancher }: Cluster) =>
    rancher.requests.filter(({ headers }) => headers.authorization?.includes(CANARY));

  it('sends no token to a server that another authority vouches for, and is not changed', async () => {
    await using other = await startCluster();
    const { world, before } = await emptyNode();
    await using _world = world;
    const { CATTLE_CA_CHECKSUM: _gone, ...variables } = other.variables;
    // The other server imitates a machine in the middle, which does not know the token.
    other.rancher.script(
      '/cacerts',
      [(_request, response) => void response.writeHead(200).end(other.rancher.ca)],
      { forEver: true },
    );
    const said = await world.say(['join', '--timeout', '2s'], variables);
    expect([said.code, said.outcome]).toEqual([65, 'refused']);
    expect(said.reason).toMatch(/CATTLE_CA_CHECKSUM|ca-checksum|checksum/i);
    expect(tokensSent(other)).toEqual([]);
    expect(world.snapshot()).toEqual(before);
  });

  it('sends no token to a server whose authorities have another checksum, and tells both', async () => {
    const { world, before } = await emptyNode();
    await using _world = world;
    const wanted = '0'.repeat(64);
    const count = tokensSent(cluster).length;
    const said = await world.say(['join'], { ...cluster.variables, CATTLE_CA_CHECKSUM: wanted });
    expect([said.code, said.outcome]).toEqual([65, 'refused']);
    expect(said.reason).toContain(wanted);
    expect(said.reason).toContain(cluster.rancher.checksum);
    expect(tokensSent(cluster)).toHaveLength(count);
    expect(world.snapshot()).toEqual(before);
  });

  it('is not registered if its own program has another digest than expected', async () => {
    const { world, before } = await emptyNode();
    await using _world = world;
    const variables = { ...cluster.variables, CATTLE_AGENT_BINARY_CHECKSUM: '1'.repeat(64) };
    const count = cluster.rancher.requests.length;
    const said = await world.say(['join'], variables);
    expect([said.code, said.outcome]).toEqual([65, 'refused']);
    expect(cluster.rancher.requests).toHaveLength(count);
    expect(world.snapshot()).toEqual(before);
  });

  it('is not registered when others could change its folders', async () => {
    const { world } = await emptyNode();
    await using _world = world;
    const file = world.workspace.write('node/etc/rancher/notes', 'x', 0o666);
    chmodSync(world.path('etc/rancher'), 0o777);
    const before = world.snapshot();
    const count = tokensSent(cluster).length;
    const said = await world.say(['join'], cluster.variables);
    expect([said.code, said.outcome]).toEqual([65, 'refused']);
    expect(said.reason).toContain(world.path('etc/rancher'));
    expect(tokensSent(cluster)).toHaveLength(count);
    expect(existsSync(file)).toBe(true);
    expect(world.snapshot()).toEqual(before);
  });

  it('is restored if its daemon does not serve, and the message names the machine that the server created', async () => {
    const { world, before } = await emptyNode();
    await using _world = world;
    const deaf = nodeRelease(
      world.workspace,
      undefined,
      `if (args[1] === 'app' && args[2] === 'run') process.exit(1);`,
    );
    const said = await world.say(['join', '--wait', '1s'], cluster.variables, deaf);
    expect([said.code, said.outcome]).toEqual([1, 'rolledBack']);
    const id = cluster.rancher.requests.at(-1)?.headers['x-cattle-id'];
    expect(said.reason).toContain(`CATTLE_ID`);
    expect(said.reason).toContain(String(id));
    expect(said.reason + said.stderr).not.toContain(CANARY);
    expect(world.snapshot()).toEqual(before);
    expect(world.pid).toBeUndefined();
  });

  it('is unchanged when its daemon cannot open the pipe of the config', async () => {
    const { world } = await emptyNode();
    await using _world = world;
    const folder = path.join(world.runtimeDirectory, 'blocked');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    world.workspace.write('node/etc/rancher/wins/config', `listen: ${folder}\n`);
    const before = world.snapshot();
    const said = await world.say(['join', '--wait', '1s'], cluster.variables);
    expect([said.code, said.outcome]).toEqual([1, 'rolledBack']);
    expect(world.snapshot()).toEqual(before);
  });

  it('waits for no other command: of two at once, one is refused and not registered', async () => {
    await using own = await startCluster();
    await using world = new NodeWorld();
    own.rancher.script('/healthz', [silent]);
    const asked = own.rancher.received('/healthz');
    const first = world.start(['join', '--timeout', '100s'], own.variables);
    await asked;
    const count = own.rancher.requests.length;
    const said = await world.say(['join'], own.variables);
    expect([said.code, said.outcome]).toEqual([75, 'refused']);
    expect(own.rancher.requests).toHaveLength(count);
    first.child.kill('SIGTERM');
    const { code } = await first.outcome;
    expect(code).not.toBe(0);
    expect(existsSync(world.stateFolder)).toBe(false);
  });

  it('says what is missing in a command line, and where', async () => {
    const { world, before } = await emptyNode();
    await using _world = world;
    const { code, stderr } = await world.wins(['join', '--server', cluster.rancher.url]);
    expect(code).toBe(64);
    expect(stderr).toContain('CATTLE_TOKEN');
    const none = await world.wins(['join', '--token-file', world.path('none')], {});
    expect(none.code).toBe(64);
    expect(none.stderr).toMatch(
      /cannot read --token-file "[^"]+": there is no such file or folder$/m,
    );
    expect(world.snapshot()).toEqual(before);
  });
});

it('the packaged program installs a node in an empty folder and removes it again', async () => {
  await using world = new NodeWorld();
  await world.wins(['install', '--dry-run']);
  const before = world.snapshot();
  const program = standInExecutable();
  const said = await world.say(['install'], {}, program);
  expect([said.code, said.outcome]).toEqual([0, 'installed']);
  expect(await world.serves()).toBe(true);
  expect(readFileSync(world.program).equals(readFileSync(program))).toBe(true);
  const gone = await world.say(['uninstall'], {}, program);
  expect([gone.code, gone.outcome, gone.kept]).toEqual([0, 'uninstalled', undefined]);
  expect(world.snapshot()).toEqual(before);
});
