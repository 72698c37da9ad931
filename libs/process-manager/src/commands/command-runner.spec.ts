import { execFileSync } from 'node:child_process';
import { getEventListeners } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createProcessManager } from '../process-manager.js';
import { isRunning, ManagerHarness, realHost } from '../testing/manager-harness.js';
import { CommandRunner } from './command-runner.js';

const NEVER = new AbortController().signal;

describe('a command runner', () => {
  let harness: ManagerHarness;
  let runner: CommandRunner;

  beforeEach(() => {
    harness = new ManagerHarness();
    runner = new CommandRunner({
      host: realHost(),
      stateDirectory: harness.stateDirectory,
      graceMs: 2_000,
    });
  });

  afterEach(async () => {
    await runner.close();
    await harness.close();
  });

  function shell(script: string, env: Readonly<Record<string, string>> = {}) {
    const output = { stdout: '', stderr: '', said: Promise.resolve() };
    let tell: () => void;
    output.said = new Promise((resolve) => (tell = resolve));
    const onOutput = (stream: 'stdout' | 'stderr', bytes: Buffer): void => {
      output[stream] += bytes.toString('latin1');
      tell();
    };
    const directory = harness.directory.path;
    const args = ['-c', script];
    return { output, command: { file: '/bin/sh', args, env, directory, onOutput } };
  }

  it('gives a program its environment alone, its folder and nothing to read', async () => {
    const script = 'echo "$WORD|$HOME"; pwd; cat; printf "\\377\\r" >&2; exit 7';
    const { output, command } = shell(script, { WORD: 'a b', RANCHER_WINS_RUN: 'forged' });
    await expect(runner.run(command, { signal: NEVER })).resolves.toEqual({ code: 7 });
    expect(output.stdout).toBe(`a b|\n${harness.directory.path}\n`);
    expect(output.stderr).toBe('\u00ff\r');
  });

  it('leaves no listener on an abort signal that outlives it', async () => {
    const { signal } = new AbortController();
    await runner.run(shell('true').command, { signal });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('waits for what holds the outputs, and takes its words too', async () => {
    const { output, command } = shell('(read line < gate; echo late) & echo early');
    const gate = path.join(harness.directory.path, 'gate');
    execFileSync('mkfifo', [gate]);
    const run = runner.run(command, { signal: NEVER });
    await output.said;
    await writeFile(gate, 'go\n');
    await expect(run).resolves.toEqual({ code: 0 });
    expect(output.stdout).toBe('early\nlate\n');
  });

  it('ends the whole process tree when it is aborted', async () => {
    const { output, command } = shell('setsid sleep 1000 & echo $!; wait');
    const giveUp = new AbortController();
    const run = runner.run(command, { signal: giveUp.signal });
    await output.said;
    const descendant = Number(output.stdout);
    const reason = new Error('enough');
    giveUp.abort(reason);
    const aborted = { name: 'ProcessError', code: 'aborted', cause: reason };
    await expect(run).rejects.toMatchObject(aborted);
    expect(isRunning(descendant)).toBe(false);
    await expect(runner.run(command, { signal: giveUp.signal })).rejects.toMatchObject(aborted);
    await runner.close();
    await expect(runner.run(command, { signal: NEVER })).rejects.toMatchObject({
      code: 'shuttingDown',
    });
  });

  it('leaves alone what a command left behind, until it is closed', async () => {
    const { output, command } = shell('sleep 1000 >/dev/null 2>&1 & echo $!');
    await expect(runner.run(command, { signal: NEVER })).resolves.toEqual({ code: 0 });
    const left = Number(output.stdout);
    expect(isRunning(left)).toBe(true);
    await runner.run(shell('true').command, { signal: NEVER });
    expect(isRunning(left)).toBe(true);
    await runner.close();
    expect(isRunning(left)).toBe(false);
  });

  it('says that a program cannot be started', async () => {
    const { command } = shell('true');
    const missing = { ...command, file: path.join(harness.directory.path, 'none') };
    await expect(runner.run(missing, { signal: NEVER })).rejects.toMatchObject({
      code: 'spawnFailed',
    });
  });

  it('ends processes that a dead daemon left running', async () => {
    // `crashed` marks its processes as started by the daemon `1:0.none` (PID and start token). This start token is not
    // from the current boot, so that daemon counts as dead.
    const { output, command } = shell('sleep 1000 >/dev/null 2>&1 & echo $!');
    const dead = realHost();
    const crashed = new CommandRunner({
      host: {
        ...dead,
        start: ({ env, mark, lineage, ...what }) =>
          dead.start({
            ...what,
            mark,
            lineage,
            // The host applies `env` after its own mark, so the program gets this mark instead.
            env: { ...env, RANCHER_WINS_RUN: `${mark}:${lineage}:1:0.none` },
          }),
      },
      stateDirectory: harness.stateDirectory,
    });
    await crashed.run(command, { signal: NEVER });
    const left = Number(output.stdout);
    const next = createProcessManager({
      allowed: [],
      stateDirectory: harness.stateDirectory,
      host: realHost(),
    });
    const ended = await next.recover();
    expect(ended.map(({ pid }) => pid)).toContain(left);
    expect(isRunning(left)).toBe(false);
    await next.close();
  });
});
