import {
  Server,
  ServerCredentials,
  status,
  type sendUnaryData,
  type ServerWritableStream,
} from '@grpc/grpc-js';
import { processServiceDefinition } from '@wins/wins-api/contract';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { runWins } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { Workspace } from '../testing/workspace.js';

describe('wins cli prc run, of a call that is wrong', () => {
  const workspace = new Workspace();
  const both = workspace.script('both', 'echo out; echo err >&2');
  let daemon: Daemon;
  beforeAll(async () => {
    const allowed = [both, workspace.path('absent')];
    daemon = await Daemon.start(workspace, workspace.config(allowed));
  });
  afterAll(async () => {
    await daemon[Symbol.asyncDispose]();
    workspace[Symbol.dispose]();
  });

  it.each([
    ['an unlisted program', ['--path', '/bin/sh'], 126, 'refused'],
    ['a program that is not there', ['--path', workspace.path('absent')], 127, 'no such file'],
    ['a folder', ['--path', workspace.folder], 127, 'not a file'],
    ['no program', [], 125, 'path'],
    ['an unknown option', ['--path', '/bin/sh', '--pth', 'x'], 125, 'pth'],
    ['an open quote', ['--path', '/bin/sh', '--args', 'a "b'], 125, '--args'],
    ['an unknown protocol', ['--path', '/bin/sh', '--exposes', 'SCTP:1'], 125, 'SCTP:1'],
    [
      'arguments in two places',
      ['--path', '/bin/sh', '--args', 'a', '--', 'b'],
      125,
      'cannot be combined with arguments after --',
    ],
    ['a variable without value', ['--path', both, '--envs', 'FOO'], 125, 'NAME=value'],
    ['a folder that is not listed', ['--path', both, '--dir', '/nowhere/x'], 126, '/nowhere/x'],
    ['a variable that is not granted', ['--path', both, '--envs', 'FOO=1'], 126, '"envs"'],
  ])('says in one line what is wrong with %s', async (_what, args, code, text) => {
    const outcome = await runWins(['cli', 'prc', 'run', ...args], workspace.environment);
    expect(outcome.code).toBe(code);
    expect(outcome.stderr).toMatch(/^wins: [^\n]+\n$/);
    expect(outcome.stderr).toContain(text);
    expect(outcome.stdout.length).toBe(0);
  });
});

describe('wins cli prc run, of a daemon that fails to clean up when the run is over', () => {
  /** Runs a client whose daemon answers `Wait` with these messages. */
  async function outcomeOf(...messages: readonly object[]): Promise<{
    readonly code: number | null;
    readonly stdout: string;
    readonly stderr: string;
  }> {
    using workspace = new Workspace();
    const address = workspace.path('failing');
    const server = new Server();
    const data = { value: 'rancher-wins-p', runId: '' };
    const details = 'could not remove the firewall rules';
    server.addService(processServiceDefinition, {
      start: (_call: unknown, done: sendUnaryData<unknown>) =>
        done(null, { data, warnings: [], leaseMs: 0 }),
      wait: (call: ServerWritableStream<unknown, unknown>) => {
        for (const message of messages) call.write({ options: message });
        call.end();
      },
      keepAlive: (call: Readable, done: sendUnaryData<unknown>) =>
        call.resume().on('end', () => done({ code: status.INTERNAL, details })),
    });
    await promisify(server.bindAsync.bind(server))(
      `unix:${address}`,
      ServerCredentials.createInsecure(),
    );
    try {
      const program = workspace.script('p', 'exit 7');
      const args = ['cli', 'prc', 'run', '--server', address, '--path', program];
      const { code, stdout, stderr } = await runWins(args, workspace.environment);
      return { code, stdout: stdout.toString(), stderr };
    } finally {
      server.forceShutdown();
    }
  }

  it('ends with the exit code that the daemon reported', async () => {
    const value = { exitCode: 7, reason: 'exited' };
    expect(await outcomeOf({ $case: 'exit', value })).toEqual({ code: 7, stdout: '', stderr: '' });
  });

  it('ends with 0 and a note when a Go daemon, which reports no exit code, ended the output cleanly', async () => {
    expect(await outcomeOf({ $case: 'stdOut', value: Buffer.from('done\n') })).toEqual({
      code: 0,
      stdout: 'done\n',
      stderr:
        'wins: rancher-wins-p has ended, and the daemon failed to clean up after it: could not remove the firewall rules; ' +
        'some of its firewall rules or child processes may be left on the host\n',
    });
  });
});
