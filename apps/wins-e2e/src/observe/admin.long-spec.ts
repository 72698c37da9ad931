import { Server, ServerCredentials } from '@grpc/grpc-js';
import { createWinsClient } from '@wins/wins-api';
import { runsDefinition, featureServiceDefinition, RunOutput } from '@wins/wins-api/contract';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { runWins, startWins, type RunningProgram } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { mayMakeContainer, startInContainer } from '../testing/other-container.js';
import { until } from '../testing/process-table.js';
import { wherePossible } from '../testing/where-possible.js';
import { WINS, Workspace } from '../testing/workspace.js';

const CSI_PROXY = { url: 'https://127.0.0.1:9/%s.tar.gz', version: 'v1.1.3', kubeletPath: '/k' };
/** Exit codes of administrators' commands while the agent and csi-proxy are off. */
const COMMANDS: readonly (readonly [code: number, ...words: string[]])[] = [
  [0, 'srv', 'config', 'reload'],
  [0, 'srv', 'events'],
  [0, 'srv', 'metrics'],
  [0, 'srv', 'plan', 'status'],
  [69, 'srv', 'plan', 'history'],
  [0, 'srv', 'csi-proxy', 'status'],
  [69, 'srv', 'csi-proxy', 'apply', '--dry-run'],
  [0, 'srv', 'debug', 'handles'],
  [0, 'srv', 'debug', 'stacks', '--seconds', '0.1'],
];

describe('the pipe of administrators', () => {
  let workspace: Workspace;
  let config: string;
  let daemon: Daemon;
  beforeEach(async () => {
    workspace = new Workspace();
    config = workspace.config([], { metrics: { listen: '127.0.0.1:0' } });
    daemon = await Daemon.start(workspace, config);
  });
  afterEach(async () => {
    await daemon[Symbol.asyncDispose]();
    workspace[Symbol.dispose]();
  });

  const socket = (name: string) => workspace.path('run', name);
  const main = () => socket('rancher_wins');
  const admin = () => socket('rancher_wins_admin');
  const wins = (...words: string[]) =>
    runWins([...words, '--config', config], workspace.environment);
  const codes = async (): Promise<unknown> => {
    const found = [];
    for (const [, ...words] of COMMANDS) found.push([(await wins(...words)).code, ...words]);
    return found;
  };
  /** Clients that the log reports as administrators on the main pipe. */
  const noted = (): unknown[] =>
    daemon.log.filter(({ msg }) => msg.startsWith('deprecated: ')).map(({ client }) => client);
  const doctor = async (): Promise<string> => String((await wins('doctor')).stdout);
  async function bundled(member: string): Promise<string> {
    const archive = workspace.path(`${member}.tar.gz`);
    expect((await wins('support-bundle', archive)).code).toBe(0);
    return String(execFileSync('tar', ['-xzOf', archive, `wins-support/${member}`]));
  }

  it('is for the user of the daemon alone, and answers every command, even when the main pipe does not (A78)', async () => {
    expect(statSync(admin()).mode & 0o777).toBe(0o600);
    renameSync(main(), `${main()}.away`);
    expect(await codes()).toEqual(COMMANDS);
    expect(noted()).toEqual([]);
  });

  it('is not needed by a client of an earlier release, which the log names once', async () => {
    await using client = createWinsClient({ address: main(), clientName: 'an old wins' });
    for (let n = 0; n < 3; n += 1) {
      expect((await client.config.reload()).rejected).toBe(false);
      const read = { facts: ['agent'] };
      const { features } = await client.call(featureServiceDefinition.read, read);
      expect(features).toMatchObject([{ name: 'agent', on: false }]);
    }
    await daemon.logged(({ client: name }) => name === 'an old wins');
    expect(noted()).toEqual(['an old wins']);
  });

  async function sleeping(): Promise<RunningProgram> {
    await daemon.stop();
    const sleeper = workspace.script('sleeper', 'echo up; trap "" TERM; while :; do sleep 1; done');
    workspace.config([sleeper]);
    daemon = await Daemon.start(workspace, config);
    const run = startWins(['cli', 'prc', 'run', '--path', sleeper], workspace.environment);
    await run.printed('up');
    return run;
  }
  const STOP = ['cli', 'prc', 'stop', 'rancher-wins-sleeper', '--now'];
  const STATS = ['cli', 'prc', 'stats', '--output', 'name'];

  it('measures runs of all clients, and ends one at once, also when the main one does not answer', async () => {
    const run = await sleeping();
    renameSync(main(), `${main()}.away`);
    const seen = await runWins(STATS, workspace.environment);
    expect([seen.stderr, String(seen.stdout)]).toEqual(['', 'rancher-wins-sleeper\n']);
    expect((await runWins(STOP, workspace.environment)).stderr).toBe('');
    expect(await run.outcome).toMatchObject({ code: 137 });
    const told = daemon.log.find(({ action }) => action === 'stop');
    expect(told).toMatchObject({
      requester: expect.stringMatching(/^admin:/) as string,
      verdict: 'allowed',
      client: { uid: process.getuid?.() },
    });
  });

  it('is not needed to measure and end runs where it does not know these calls', async () => {
    const run = await sleeping();
    rmSync(admin());
    const earlier = new Server();
    await new Promise((resolve) =>
      earlier.bindAsync(`unix:${admin()}`, ServerCredentials.createInsecure(), resolve),
    );
    const seen = await runWins(STATS, workspace.environment);
    expect([seen.stderr, String(seen.stdout)]).toEqual(['', 'rancher-wins-sleeper\n']);
    expect((await runWins(STOP, workspace.environment)).stderr).toBe('');
    expect((await run.outcome).code).toBe(137);
    earlier.forceShutdown();
  });

  /** Restarts the daemon, then starts a detached run `web` that ends at once when stopped. */
  async function detached(): Promise<void> {
    await daemon.stop();
    const program = workspace.script('worker', 'echo up; while :; do sleep 1; done');
    config = workspace.config([{ path: program, detached: { allow: true } }]);
    daemon = await Daemon.start(workspace, config);
    await prc('run', '--detach', '--name', 'web', '--path', program);
  }
  const prc = async (...words: string[]): Promise<readonly [unknown, string]> => {
    const { code, stdout, stderr } = await runWins(['cli', 'prc', ...words], workspace.environment);
    return [code, `${String(stdout)}${stderr}`];
  };
  const LIST = ['ls', '--detached', '-o', 'name'];

  it('shows and removes detached runs, starts none, and serves few followers so that a run can be stopped', async () => {
    await detached();
    renameSync(main(), `${main()}.away`);
    const server = ['--server', 'rancher_wins_admin'];
    expect(await prc(...LIST)).toEqual([0, 'web\n']);
    const start = await prc('run', '--detach', ...server, '--path', '/bin/true');
    expect(start).toEqual([125, expect.stringContaining('does not know this call')]);
    const clients = Array.from({ length: 6 }, () => createWinsClient({ address: admin() }));
    const request = { name: 'web', offset: 0, sinceMs: 0, follow: true, only: RunOutput.BOTH };
    const following = clients.map(async (client) => {
      const parts = client.stream(runsDefinition.read, request)[Symbol.asyncIterator]();
      expect((await parts.next()).value).toMatchObject({
        options: { $case: 'stdOut', value: Buffer.from('up\n') },
      });
      return parts;
    });
    await Promise.all(following);
    expect(await prc('logs', 'web', ...server)).toEqual([
      125,
      'wins: cannot serve this call: the limit of 6 calls that follow events or a run on the pipe of administrators is reached\n',
    ]);
    expect((await prc('stop', 'rancher-wins-worker', '--now'))[0]).toBe(0);
    for (const parts of await Promise.all(following))
      expect((await parts.next()).value).toMatchObject({ options: { $case: 'end' } });
    await Promise.all(clients.map((client) => client.close()));
    expect(await prc('rm', 'web', ...server)).toEqual([0, '']);
    expect(await prc(...LIST)).toEqual([0, '']);
  });

  it('is asked for a detached run that the main one does not have', async () => {
    await detached();
    // On Windows, the main pipe hides runs from an administrator at a console. To imitate this, another daemon, without runs, serves the main pipe.
    using elsewhere = new Workspace();
    await using _other = await Daemon.start(elsewhere, elsewhere.config([]));
    renameSync(main(), `${main()}.away`);
    renameSync(elsewhere.path('run', 'rancher_wins'), main());
    expect(await prc(...LIST)).toEqual([0, 'web\n']);
    expect(await prc('logs', 'web')).toEqual([0, 'up\n']);
    expect(await prc('stop', 'web', '-o', 'name')).toEqual([0, 'web\n']);
    expect(await prc('rm', 'web')).toEqual([0, '']);
    renameSync(admin(), `${admin()}.away`);
    expect(await prc('logs', 'web')).toEqual([
      127,
      expect.stringMatching(
        /^wins: cannot find "web": no detached run of this client has that name/,
      ),
    ]);
  });

  it('is not needed by the commands where a daemon of an earlier release has none', async () => {
    // Earlier releases serve administrators on the main pipe, without `srv debug`.
    renameSync(admin(), `${admin()}.away`);
    const withoutDiagnosis = COMMANDS.map(([code, ...words]) => [
      words.includes('debug') ? 69 : code,
      ...words,
    ]);
    expect(await codes()).toEqual(withoutDiagnosis);
    expect(noted()).toEqual(expect.arrayContaining(['wins srv config', 'wins srv plan']));
    expect(await doctor()).toContain('the daemon has no pipe rancher_wins_admin');
    expect(await doctor()).toMatch(/^ok +config in force +config \//m);
    renameSync(`${admin()}.away`, admin());
  });

  it('and the main one are both named when no daemon answers', async () => {
    await daemon.stop();
    const { code, stderr } = await wins('srv', 'config', 'reload');
    expect([code, stderr]).toEqual([
      69,
      expect.stringMatching(/on pipe "rancher_wins_admin" or "rancher_wins": no daemon answers; /),
    ]);
    const debug = await wins('srv', 'debug', 'handles');
    expect(debug.stderr).toMatch(/on pipe "rancher_wins_admin": no daemon answers/);
  });

  it('answers while silent connections flood the main one', async () => {
    const sockets: Socket[] = [];
    while (sockets.length < 600) {
      const one = connect(main()).resume();
      try {
        await once(one, 'connect');
        sockets.push(one.on('error', () => undefined));
      } catch (error) {
        // The kernel's queue for the socket is full, and the daemon has accepted none of these connections.
        expect(error).toMatchObject({ code: 'EAGAIN' });
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    expect(await codes()).toEqual(COMMANDS);
    for (const one of sockets) one.destroy();
  });

  it('is opened by a reload after another program used its name, and the daemon serves meanwhile', async () => {
    await daemon.stop();
    mkdirSync(admin());
    await using next = await Daemon.start(workspace, config);
    await next.logged(({ msg }) => msg.startsWith('cannot serve the pipe of administrators'));
    expect((await runWins(['cli', 'app', 'info'], workspace.environment)).code).toBe(0);
    rmSync(admin(), { recursive: true });
    expect((await wins('srv', 'config', 'reload')).code).toBe(0);
    await until(() => existsSync(admin()));
    expect((await wins('srv', 'debug', 'handles')).code).toBe(0);
  });

  const asRoot = wherePossible(it, process.getuid?.() === 0, 'a socket of another user: not root');
  asRoot('is not used if another user serves it in place of the daemon', async () => {
    renameSync(admin(), `${admin()}.away`);
    let accepted = 0;
    const squatter = createServer(() => (accepted += 1)).listen(admin());
    await once(squatter, 'listening');
    chownSync(admin(), 65_534, 65_534);
    for (const [, ...words] of COMMANDS.filter(([, , command]) => command !== 'events')) {
      const { code, stderr } = await wins(...words);
      expect([code, stderr]).toEqual([77, expect.stringContaining('user 65534 owns its socket')]);
    }
    expect(accepted).toBe(0);
    expect(await doctor()).toMatch(/problem +pipe .*user 65534 owns it/);
    squatter.close();
  });

  it('whose mode was changed is a problem for the doctor', async () => {
    chmodSync(admin(), 0o666);
    expect(await doctor()).toMatch(/problem +pipe .*rancher_wins_admin accepts .*mode 666/);
  });

  it('without an answer makes doctor and bundle list the missing facts and the reason', async () => {
    config = workspace.config([], {
      'csi-proxy': CSI_PROXY,
      systemagent: { localEnabled: true },
    });
    await daemon.stop();
    const [told, plans] = [await doctor(), await bundled('features.json.error.txt')];
    const why = 'cannot ask the daemon on pipe "rancher_wins_admin" or "rancher_wins": no daemon';
    expect(told).toMatch(/^problem +daemon +does not serve: .*rancher_wins/m);
    expect(plans).toContain(why);
    expect(JSON.parse(await bundled('members.json'))).toContainEqual(
      expect.objectContaining({ name: 'features.json.error.txt', isFailure: true }),
    );
  });

  const inContainer = wherePossible(
    it,
    mayMakeContainer(),
    'a container that was given the pipe: no right to make one',
  );
  inContainer(
    'refuses a container that was given the pipe, as the main pipe does (A78)',
    async () => {
      const from = (words: readonly string[]) =>
        startInContainer([WINS, ...words, '--config', config], workspace.environment).outcome;
      for (const [, ...words] of COMMANDS.filter(([, , command]) => command !== 'events')) {
        const { code, stdout, stderr } = await from(words);
        expect([code, String(stdout)]).toEqual([77, '']);
        expect(stderr).toContain('on pipe "rancher_wins_admin": ');
        expect(stderr).toContain('outside of containers');
      }
      renameSync(admin(), `${admin()}.away`);
      const older = await from(['srv', 'config', 'reload']);
      expect([older.code, older.stderr]).toEqual([
        77,
        expect.stringMatching(/on pipe "rancher_wins": .*there is no pipe "rancher_wins_admin"/),
      ]);
    },
  );

  inContainer('ends no run for a container that was given the pipe (A78)', async () => {
    const run = await sleeping();
    const from = (words: readonly string[]) =>
      startInContainer([WINS, ...words], workspace.environment).outcome;
    const { code, stderr } = await from(STOP);
    expect([code, stderr]).toEqual([
      126,
      expect.stringMatching(/; omit --now, or run this as an administrator of the host\n$/),
    ]);
    expect(String((await from(STATS)).stdout)).toBe('');
    await runWins(STOP, workspace.environment);
    expect((await run.outcome).code).toBe(137);
  });

  inContainer('leaves the events on the disk to who is refused and can read them', async () => {
    const words = [WINS, 'srv', 'events', '--config', config];
    const asked = () => startInContainer(words, workspace.environment).outcome;
    const { code, stdout, stderr } = await asked();
    expect([code, String(stdout)]).toEqual([0, expect.stringContaining(' started ')]);
    expect(stderr).toMatch(
      /only administrators of the host may[^]*showing the events on the disk\n$/,
    );
    rmSync(socket('rancher_wins.events'), { recursive: true });
    expect((await asked()).code).toBe(77);
  });
});
