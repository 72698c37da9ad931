import { Server, ServerCredentials, status, type sendUnaryData } from '@grpc/grpc-js';
import { processServiceDefinition } from '@wins/wins-api/contract';
import { promisify } from 'node:util';
import { runWins, startWins } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { Workspace } from '../testing/workspace.js';

const MIB = 1024 * 1024;

describe('a run with limits', () => {
  const workspace = new Workspace();
  const told = workspace.script('told', 'echo up; exec sleep 1000');
  const free = workspace.script('free', 'echo up');
  const entry = { limits: { memoryBytes: 64 * MIB }, maxLimits: { memoryBytes: 128 * MIB } };
  let daemon: Daemon;
  beforeAll(async () => {
    const config = workspace.config([{ path: told, ...entry }, free]);
    daemon = await Daemon.start(workspace, config);
  });
  afterAll(async () => {
    await daemon[Symbol.asyncDispose]();
    workspace[Symbol.dispose]();
  });
  const wins = async (...words: string[]) => {
    const { code, stdout, stderr } = await runWins(['cli', 'prc', ...words], workspace.environment);
    return { code, stdout: stdout.toString(), stderr };
  };

  it('shows them in prc ls, in prc stats beside what it uses, and in the audit log', async () => {
    const words = ['cli', 'prc', 'run', '--path', told, '--memory', '96MiB'];
    const run = startWins(words, workspace.environment);
    await run.printed('up');
    const listed = JSON.parse((await wins('ls')).stdout) as { limitedBy: string }[];
    const [{ limitedBy: by } = { limitedBy: '' }] = listed;
    const figures = { memoryLimitBytes: 96 * MIB, cpuLimit: null, processLimit: null };
    expect(listed).toMatchObject([{ name: 'rancher-wins-told', ...figures }]);
    expect(by).toMatch(/^(?:cgroup|rlimit)$/);
    expect((await wins('ls', '-o', 'table')).stdout).toContain(` 96.0 MiB by ${by} `);
    expect((await wins('stats', '-o', 'table')).stdout).toMatch(/ \d\.\d MiB \/ 96\.0 MiB +1 /);
    run.child.kill();
    const { stderr } = await run.outcome;
    const isEach = 'wins: warning: the memory limit applies to each process separately (rlimit)';
    expect(stderr.includes(isEach)).toBe(by === 'rlimit');
    const audit = await runWins(
      ['srv', 'audit', 'show', '--config', workspace.path('config')],
      workspace.environment,
    );
    expect(audit.stdout.toString()).toContain(`limits="memoryBytes=${96 * MIB} by=${by}"`);
  });

  it('gets those of its entry when it asks for none, and no more than the entry allows', async () => {
    const run = startWins(['cli', 'prc', 'run', '--path', told], workspace.environment);
    await run.printed('up');
    expect((await wins('ls')).stdout).toContain(`"memoryLimitBytes":${64 * MIB}`);
    run.child.kill();
    await run.outcome;
    const { code, stderr } = await wins('run', '--path', told, '--memory', '129MiB');
    expect([code, stderr]).toEqual([
      126,
      `wins: the daemon refused: cannot run a program with ${129 * MIB} bytes of memory: its entry allows ${128 * MIB}\n`,
    ]);
  });

  it.each([
    ['memory', 'lots', 'found "lots"; wanted a number of bytes, such as 512MiB or 2GiB'],
    ['cpus', '0', 'found "0"; wanted a number of processors, such as 0.5'],
    ['pids', 'many', 'found "many"; wanted a number'],
  ])('is refused by the client for --%s %s', async (name, value, why) => {
    const { code, stderr } = await wins('run', '--path', free, `--${name}`, value);
    expect([code, stderr]).toEqual([125, expect.stringContaining(`--${name}: ${why}`)]);
  });

  it('does not start under a daemon of an earlier release, which would ignore the limits', async () => {
    const address = workspace.path('earlier');
    const started: unknown[] = [];
    const server = new Server();
    const { start } = processServiceDefinition;
    const refuse = (call: unknown, done: sendUnaryData<unknown>): void => {
      started.push(call);
      done({ code: status.INTERNAL });
    };
    server.addService({ start }, { start: refuse });
    await promisify(server.bindAsync.bind(server))(
      `unix:${address}`,
      ServerCredentials.createInsecure(),
    );
    const words = ['run', '--server', address, '--path', free];
    const { code, stderr } = await wins(...words, '--memory', '64MiB');
    expect([code, started]).toEqual([125, []]);
    expect(stderr).toContain('it may be an older release');
    await wins(...words);
    expect(started).toHaveLength(1);
    server.forceShutdown();
  });
});
