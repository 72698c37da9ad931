import { copyFileSync, readFileSync } from 'node:fs';
import { runWins, startWins } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { processesWith } from '../testing/process-table.js';
import { Workspace } from '../testing/workspace.js';

describe('the command line of a run, as process lists of the host show it', () => {
  const workspace = new Workspace();
  // Binaries, because the kernel replaces the argv[0] of a script.
  const sleeper = workspace.path('sleeper');
  const [copied, listed] = [workspace.path('shell'), workspace.path('listed-shell')];
  let daemon: Daemon;

  beforeAll(async () => {
    copyFileSync('/bin/sleep', sleeper);
    for (const shell of [copied, listed]) copyFileSync('/bin/sh', shell);
    const config = workspace.config([sleeper, copied, { path: listed, argv0: 'listed' }]);
    daemon = await Daemon.start(workspace, config);
  });
  afterAll(async () => {
    await daemon[Symbol.asyncDispose]();
    workspace[Symbol.dispose]();
  });

  it('is found by "rancher-wins-" in it, on the program and on no other process', async () => {
    const client = startWins(
      ['cli', 'prc', 'run', '--path', sleeper, '--', '86400'],
      workspace.environment,
    );
    const { pid } = await daemon.logged(({ type }) => type === 'started');
    expect(processesWith('rancher-wins-', workspace.folder)).toEqual([pid]);
    const commandLine = readFileSync(`/proc/${String(pid)}/cmdline`, 'utf8').split('\0');
    expect(commandLine).toEqual([workspace.path('rancher-wins-sleeper'), '86400', '']);
    client.child.kill('SIGTERM');
    await client.outcome;
  });

  it.each([
    ['the verified copy', copied, workspace.path('rancher-wins-shell')],
    ['the listed path, when the entry says so', listed, listed],
  ])('begins with %s', async (_name, program, expected) => {
    const { stdout } = await runWins(
      ['cli', 'prc', 'run', '--path', program, '--', '-c', 'echo "$0"'],
      workspace.environment,
    );
    expect(stdout.toString()).toBe(`${expected}\n`);
  });
});
