import { appendFileSync, existsSync } from 'node:fs';
import { answer } from '@wins/rancher-client/testing';
import { nodeRelease } from '../testing/node/node-release.js';
import { type Cluster, NodeWorld, startCluster } from '../testing/node/node-world.js';
import { processesWith } from '../testing/process-table.js';

function isRegistration({ path: asked }: { readonly path: string }): boolean {
  return asked === '/v3/connect/agent';
}

describe('a node that changes', () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster();
  });
  afterAll(() => cluster[Symbol.asyncDispose]());

  it('follows a server from its own authority to one of the system and back, with one restart each', async () => {
    await using world = new NodeWorld();
    const { rancher } = cluster;
    const own = cluster.variables;
    expect((await world.say(['join'], own)).outcome).toBe('installed');
    const { pid } = world;

    const { caCerts, ca, url } = rancher;
    const system = world.workspace.write('system.pem', ca);
    rancher.caCerts = '';
    const { CATTLE_TOKEN: token } = own;
    const open = { CATTLE_SERVER: url, CATTLE_TOKEN: token, SSL_CERT_FILE: system };
    const said = await world.say(['suc'], open);
    expect([said.code, said.outcome]).toEqual([0, 'installed']);
    expect(said.steps?.filter((step) => step.includes('start rancher-wins'))).toHaveLength(1);
    expect(existsSync(world.authorities)).toBe(false);
    expect(world.text(world.config)).not.toContain('tls-config');
    expect(world.pid).not.toBe(pid);
    expect((await world.say(['suc'], open)).outcome).toBe('nothing');

    rancher.caCerts = caCerts;
    expect((await world.say(['suc'], own)).outcome).toBe('installed');
    expect(world.text(world.authorities)).toBe(ca);
    expect(world.text(world.config)).toContain(`certFilePath: "${world.authorities}"`);
  });

  it('does not wait in a job for a server that needs more time than a job has, and reports this', async () => {
    await using world = new NodeWorld();
    expect((await world.say(['join'], cluster.variables)).outcome).toBe('installed');
    const later = answer(503, 'later', { 'retry-after': '160' });
    cluster.rancher.script('/cacerts', [later], { forEver: true });
    const said = await world.say(['suc'], cluster.variables);
    expect([said.code, said.outcome]).toEqual([70, 'failed']);
    expect(said.reason).toContain('found status 503 with "later"');
    // A join, unlike a job, waits the 160 s that the server asks for.
    const join = world.start(['join'], cluster.variables);
    let told = '';
    await new Promise<void>((resolve) => {
      join.child.stderr?.on('data', (part: Buffer) => {
        told += part.toString();
        if (told.includes('trying again in')) resolve();
      });
      join.child.once('close', () => resolve());
    });
    join.child.kill('SIGTERM');
    await join.outcome;
    cluster.rancher.script('/cacerts', []);
    expect(told).toContain('trying again in 2m40s');
  });

  it('has no detached run once it is uninstalled, and its audit log names the ended runs', async () => {
    await using world = new NodeWorld();
    const sleeper = world.workspace.script('sleeper', 'sleep 600 & wait');
    const copy = world.workspace.path('rancher-wins-sleeper');
    expect((await world.say(['install'])).outcome).toBe('installed');
    const entry = { path: sleeper, detached: { allow: true } };
    appendFileSync(world.config, `white_list: ${JSON.stringify({ processPaths: [entry] })}\n`);
    expect((await world.wins(['srv', 'config', 'reload', '--config', world.config])).code).toBe(0);
    const detached = await world.wins([
      'cli',
      'prc',
      'run',
      '-d',
      '--name',
      'web',
      '--path',
      sleeper,
    ]);
    expect([detached.code, detached.stderr]).toEqual([0, '']);
    const keepers = () => processesWith('srv\0keep', world.runtimeDirectory);
    expect([keepers().length, processesWith(copy).length]).toEqual([1, 1]);
    expect((await world.say(['uninstall', '--force'])).outcome).toBe('uninstalled');
    expect([keepers(), processesWith(copy)]).toEqual([[], []]);
    expect(world.filesWith('detachedRunsEnded').length).toBe(1);
  });

  it('gets another release when it joins again, and no older one unless that is allowed', async () => {
    await using cluster = await startCluster();
    await using world = new NodeWorld();
    expect((await world.say(['join'], cluster.variables)).outcome).toBe('installed');
    const newer = nodeRelease(world.workspace, 'v1.1.0');
    const said = await world.say(['join'], cluster.variables, newer);
    expect([said.code, said.reason]).toEqual([0, 'the node is in the requested state']);
    expect(await world.version()).toBe('v1.1.0');
    const count = cluster.rancher.requests.filter(isRegistration).length;
    const older = await world.say(['join'], cluster.variables);
    expect([older.code, older.outcome]).toEqual([65, 'refused']);
    expect(cluster.rancher.requests.filter(isRegistration)).toHaveLength(count);
    const dirty = nodeRelease(world.workspace, 'v1.1.0-4-gabcdef-dirty');
    expect((await world.say(['join'], cluster.variables, dirty)).outcome).toBe('refused');
    const down = await world.say(['join', '--allow-downgrade'], cluster.variables);
    expect([down.code, await world.version()]).toEqual([0, 'v1.0.0']);
  });
});
