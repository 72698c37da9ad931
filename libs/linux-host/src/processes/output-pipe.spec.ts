import { readdirSync, readlinkSync } from 'node:fs';
import { buffer, text } from 'node:stream/consumers';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import type { HostProcess, StartOptions } from '@wins/base';
import { posixProcessHost } from './posix-process-host.js';

const onLinux = process.platform === 'linux' ? describe : describe.skip;
if (process.platform !== 'linux')
  process.stderr.write('SKIPPED: pipes of programs, which only Linux has\n');

const MIB = 1024 * 1024;

function start(script: string, options?: StartOptions, file = '/bin/sh'): Promise<HostProcess> {
  const command = {
    mark: 'ab'.repeat(16),
    lineage: 'cd'.repeat(8),
    file,
    argv0: file,
    args: ['-c', script],
    env: { PATH: '/usr/bin:/bin' },
    directory: '/',
  };
  return posixProcessHost().start(command, options);
}

const descriptors = (): readonly string[] =>
  readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)];
    } catch {
      return [];
    }
  });
const pipes = (): number => descriptors().filter((each) => each.startsWith('pipe:')).length;

onLinux('the outputs of a program', () => {
  it('are its only descriptors, and open again as /dev/stdout and /dev/stderr', async () => {
    const inherited = descriptors();
    const other = await start('sleep 60');
    const run = await start(
      'echo out > /dev/stdout; echo err > /dev/stderr; for fd in /proc/$$/fd/*; do readlink $fd; done',
    );
    const [stdout, stderr] = await Promise.all([text(run.stdout), text(run.stderr)]);
    const [out, ...opened] = stdout.trim().split('\n');
    expect([out, stderr]).toEqual(['out', 'err\n']);
    const own = opened.filter((each) => !inherited.includes(each));
    expect(own.map((each) => each.replace(/\d+/, 'N'))).toEqual(['pipe:[N]', 'pipe:[N]']);
    await other.terminate('force');
    await other.exited;
    for (const each of [run, other]) each.close();
  });

  it('block the program, not this process, while nobody reads, and lose nothing', async () => {
    const run = await start(`head -c ${4 * MIB} /dev/zero; echo end`);
    // The pipe and Node's read-ahead hold less than 4 MiB, so the program cannot end.
    const early = await Promise.race([run.exited, delay(100)]);
    expect(early).toBeUndefined();
    const all = await buffer(run.stdout);
    expect([all.length, all.toString('latin1', 4 * MIB)]).toEqual([4 * MIB + 4, 'end\n']);
    expect(await run.exited).toEqual({ code: 0 });
    run.close();
  });

  it('end with the last process that can write to them', async () => {
    const run = await start('(sleep 0.3; echo late) & echo early');
    expect(await run.exited).toEqual({ code: 0 });
    expect(await text(run.stdout)).toBe('early\nlate\n');
    run.close();
  });

  it('leave no descriptor behind a start that fails, or a run that ended', async () => {
    const before = pipes();
    for (let index = 0; index < 20; index += 1)
      await expect(start('', undefined, '/bin/none')).rejects.toThrow('ENOENT');
    for (let index = 0; index < 3; index += 1) {
      const run = await start('echo out', { reusesBuffer: true });
      run.stdout.resume();
      run.stderr.resume();
      await run.exited;
      run.close();
    }
    while (pipes() > before) await nextTurn();
  });
});
