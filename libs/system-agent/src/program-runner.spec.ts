import type { HostExit } from '@wins/base';
import { programRunner, type CommandTrees } from './program-runner.js';

const NEVER = new AbortController().signal;

function runnerOf(exit: HostExit | Error) {
  const commands: Parameters<CommandTrees['run']>[0][] = [];
  const runner: CommandTrees = {
    run: (command) => {
      commands.push(command);
      return exit instanceof Error ? Promise.reject(exit) : Promise.resolve(exit);
    },
  };
  const environment = { PATH: '/usr/bin:bin::/bin', HTTPS_PROXY: 'http://proxy' };
  const programs = programRunner(runner, environment);
  const run = (...env: string[]) =>
    programs.run(
      { file: '/bin/x', args: [], env, directory: '/', onOutput: () => undefined },
      { signal: NEVER },
    );
  return { programs, run, commands };
}

describe('the runner of instructions', () => {
  it('looks in the absolute folders of the daemon, whose variables a program gets', () => {
    const { programs } = runnerOf({ code: 0 });
    expect(programs.searchPath).toEqual(['/usr/bin', '/bin']);
    expect(programs.environment).toMatchObject({ HTTPS_PROXY: 'http://proxy' });
  });

  it('hands variables on, and leaves out what is none', async () => {
    const { run, commands } = runnerOf({ code: 3 });
    expect(await run('A=b=c', 'EMPTY=', '$env:B="x"', 'secret', '=odd', '__proto__=p')).toBe(3);
    expect(Object.entries(commands[0]?.env ?? {})).toEqual([
      ['A', 'b=c'],
      ['EMPTY', ''],
      ['$env:B', '"x"'],
      ['__proto__', 'p'],
    ]);
  });

  it('says -1 for what a signal ended, and why something does not start', async () => {
    expect(await runnerOf({ code: 137, signal: 'SIGKILL' }).run()).toBe(-1);
    const failing = runnerOf(new Error('cannot start it'));
    await expect(failing.run()).rejects.toMatchObject({
      name: 'AgentError',
      code: 'refused',
      message: 'cannot start it',
    });
  });

  it('says that it was aborted, whatever its trees then say', async () => {
    const reason = new Error('enough');
    const { programs } = runnerOf(new Error('its tree was killed'));
    const command = {
      file: '/bin/x',
      args: [],
      env: [],
      directory: '/',
      onOutput: () => undefined,
    };
    const run = programs.run(command, { signal: AbortSignal.abort(reason) });
    const aborted = { name: 'AgentError', code: 'aborted', cause: reason };
    await expect(run).rejects.toMatchObject(aborted);
  });
});
