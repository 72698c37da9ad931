import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import path from 'node:path';
import { runWins, type Outcome } from '../testing/built-program.js';
import { until } from '../testing/process-table.js';
import { singleFile } from '../testing/upgrade/single-file.js';
import { Supervisor } from '../testing/upgrade/supervisor.js';
import { sha256, UpgradeWorld } from '../testing/upgrade/upgrade-world.js';

/** Variables that would direct the helper to another service or pipe if it read them. The test's whitelist entry permits them all. */
const ENVS = [
  'WINS_RUNTIME_DIR',
  'WINS_SERVICE',
  'XDG_RUNTIME_DIR',
  'RANCHER_WINS_SERVICE',
  'RANCHER_WINS_RUNTIME_DIR',
  'TMPDIR',
];

/** Creates a node whose config permits one helper by path and SHA-256, as the Helm chart does. */
async function nodeWithHelper(version: string, config: object = {}, entry: object = {}) {
  const world = await UpgradeWorld.empty('program files/wins');
  const { workspace } = world;
  writeFileSync(world.target, singleFile('v1.0.0'), { mode: 0o755 });
  const helper = workspace.write('wins-upgrade', singleFile(version), 0o755);
  const white_list = {
    processPaths: [{ path: helper, sha256: sha256(singleFile(version)), ...entry }],
  };
  const proxy = workspace.path('proxy');
  workspace.write('config', JSON.stringify({ listen: world.pipe, proxy, white_list, ...config }));
  world.define(`"${world.target}" srv app run --config "${world.config}"`);
  world.supervisor.start();
  await until(() => world.supervisor.said.includes('"ready"'));
  return { world, helper };
}

function run(
  { world, helper }: { world: UpgradeWorld; helper: string },
  words: readonly string[],
  { server = world.pipe, envs = '' } = {},
): Promise<Outcome> {
  const given = envs === '' ? [] : ['--envs', envs];
  const call = ['cli', 'prc', 'run', '--server', server, '--path', helper, ...given, '--'];
  return runWins([...call, ...words], world.workspace.environment);
}

function audited({ supervisor }: UpgradeWorld, action: string): Record<string, unknown>[] {
  return supervisor.said
    .split('\n')
    .filter((line) => line.includes('"log":"audit"'))
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter((record) => record['action'] === action);
}

describe('a client of a daemon that may run the upgrade helper', () => {
  it('cannot register the service with another config (A39)', async () => {
    const node = await nodeWithHelper('v1.0.0');
    const { world, helper } = node;
    await using _world = world;
    const { workspace } = world;
    const proof = workspace.path('it-ran');
    const evil = workspace.script('evil', `echo ran > ${proof}`);
    const his = { listen: world.pipe, proxy: workspace.path('proxy') };
    const whole = { ...his, white_list: { processPaths: [evil] } };
    const config = workspace.write('his config', JSON.stringify(whole));
    const state = () => [world.definition, world.config].map((file) => readFileSync(file, 'utf8'));
    const before = state();

    for (const words of [
      ['up', '--wins-args', `--config "${config}" --quiet`],
      ['up', '--json', `--wins-args=--config "${config}"`],
      ['upgrade', '--expect-config', config],
      ['up', '--quiet', '--service', world.definition, '--wins-args', `--config "${config}"`],
      ['srv', 'app', 'run', '--config', config, '--register'],
      ['cli', 'deliver', '--from', config, '--to', world.config],
    ]) {
      const { code, stdout, stderr } = await run(node, words);
      expect(code).toBe(65);
      expect(stdout.toString() + stderr).toMatch(
        /cannot do this in a run of a daemon|the service reads/,
      );
    }

    expect(state()).toEqual(before);
    expect(world.supervisor.started).toHaveLength(1);
    const own = await runWins(
      ['cli', 'prc', 'run', '--server', world.pipe, '--path', evil],
      workspace.environment,
    );
    expect([own.code, existsSync(proof)]).toEqual([126, false]);
    const starts = () => audited(world, 'start').filter(({ verdict }) => verdict === 'allowed');
    await until(() => starts().length === 6);
    expect(starts()[0]).toMatchObject({ path: helper, sha256: sha256(singleFile('v1.0.0')) });
  });

  it('upgrades only to the pinned program, with the registered arguments, and leaves one record of both (A39)', async () => {
    const node = await nodeWithHelper('v1.1.0');
    const { world } = node;
    await using _world = world;
    const before = world.supervisor.command;
    const { code, stdout } = await run(node, ['up', '--json', '--id', 'pod-1']);
    expect([code, JSON.parse(stdout.toString())]).toEqual([
      0,
      expect.objectContaining({ id: 'pod-1', outcome: 'handedOver' }),
    ]);
    await until(() => audited(world, 'upgrade').length > 0);
    expect(await world.rest()).toBe('v1.1.0');
    expect(world.supervisor.command).toEqual(before);
    const [start] = audited(world, 'start');
    const words = before.slice(1);
    expect(audited(world, 'upgrade')).toEqual([
      expect.objectContaining({
        id: 'pod-1',
        verdict: 'allowed',
        outcome: 'upgraded',
        requester: `run ${String(start?.['mark'])}`,
        from: { version: 'v1.0.0', sha256: sha256(singleFile('v1.0.0')) },
        to: { version: 'v1.1.0', sha256: sha256(singleFile('v1.1.0')) },
        argsBefore: words,
        argsAfter: words,
      }),
    ]);
  });

  it('cannot choose by the environment which service is upgraded, or which daemon proves that it serves (A58)', async () => {
    // `listen` is a bare pipe name, so the environment of the helper could redirect it to another folder.
    const node = await nodeWithHelper('v1.1.0', { listen: 'a58' }, { envs: ENVS });
    const { world } = node;
    await using _world = world;
    const { workspace } = world;
    const his = workspace.path('his');
    mkdirSync(path.join(his, 'rancher-wins'), { recursive: true, mode: 0o700 });
    await using sockets = await listenOn(path.join(his, 'a58'), path.join(his, 'rancher-wins/a58'));
    const definition = path.join(his, 'service.json');
    const command = JSON.stringify({ command: `"${world.target}" srv app run` });
    writeFileSync(definition, command, { mode: 0o600 });
    await using service = await Supervisor.open(definition, workspace.environment);

    const value = (name: string) => (name.endsWith('SERVICE') ? definition : his);
    const envs = ENVS.map((name) => `${name}=${value(name)}`).join(' ');
    const { code, stderr } = await run(node, ['up', '--json'], { server: 'a58', envs });
    expect([code, stderr]).toEqual([0, '']);
    await until(() => audited(world, 'upgrade').length > 0);

    expect(world.result).toMatchObject({ outcome: 'upgraded', to: { version: 'v1.1.0' } });
    expect(readFileSync(definition, 'utf8')).toBe(command);
    expect([service.started, sockets.connections]).toEqual([[], 0]);
  });
});

async function listenOn(
  ...addresses: string[]
): Promise<AsyncDisposable & { connections: number }> {
  const servers: Server[] = [];
  const found = {
    connections: 0,
    [Symbol.asyncDispose]: async () => {
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    },
  };
  for (const address of addresses) {
    const server = createServer((socket) => {
      found.connections += 1;
      socket.destroy();
    });
    await once(server.listen(address), 'listening');
    servers.push(server);
  }
  return found;
}
