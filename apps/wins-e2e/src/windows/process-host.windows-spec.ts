import { errnoOf } from '@wins/base';
import { posixProcessHost } from '@wins/linux-host';
import { judgeExecutablePath } from '@wins/process-manager';
import { processHostContract } from '@wins/process-manager/testing';
import { fileSecurity, holdFile, windowsFileTrust } from '@wins/windows-host';
import assert from 'node:assert/strict';
import { renameSync, unlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, afterEach, beforeEach, describe, it } from 'node:test';
import {
  firstLineOf,
  hostOnWindows,
  managerOnWindows,
  resultOf,
  WindowsPrograms,
} from './manager-on-windows.js';

const FOREVER = 'setInterval(()=>{},1e6)';
const cmd = path.join(process.env['SystemRoot'] ?? 'C:\\Windows', 'System32', 'cmd.exe');

describe('the process host of job objects', () => {
  for (const [name, check] of processHostContract({
    host: hostOnWindows(),
    findsDescendants: true,
    measures: process.env['WINEPREFIX'] === undefined ? 'all' : 'memory',
  })) {
    it(name, check);
  }
});

describe('a process manager on Windows', () => {
  const programs = new WindowsPrograms();
  programs.add('tool.exe', process.execPath);
  programs.add('shell.exe', cmd);
  after(() => programs.close());

  let manager: ReturnType<typeof managerOnWindows>;
  beforeEach(() => {
    manager = managerOnWindows(programs.directory, ['tool.exe', 'shell.exe']);
  });
  afterEach(() => manager.close());

  it('passes on arguments as they are, and the name of the verified copy', async () => {
    const args = ['a b', '', 'say "hi"', 'tail\\', 'C:\\a b\\', '\\\\"', 'grüße 😀', '%PATH%', '&'];
    const script = 'console.log(JSON.stringify([process.argv0, ...process.argv.slice(1)]))';
    const run = await manager.start(programs.request('tool.exe', ['-e', script, '--', ...args]));
    const { stdout } = await resultOf(run);
    assert.deepEqual(JSON.parse(stdout.toString()), [
      programs.pathOf('rancher-wins-tool.exe'),
      ...args,
    ]);
  });

  it('begins its command line with the verified copy, or with the listed path when the entry says so', async () => {
    const request = programs.request('tool.exe', ['-p', 'process.argv0']);
    const nameSeen = async () => (await resultOf(await manager.start(request))).stdout.toString();
    assert.equal(await nameSeen(), `${programs.pathOf('rancher-wins-tool.exe')}\n`);
    manager.setAllowed([{ path: request.path, argv0: 'listed' }]);
    assert.equal(await nameSeen(), `${request.path}\n`);
  });

  it('asks a program by Ctrl-Break when its entry says so, and gives its name to one that replaces it', async () => {
    const script = `process.on('SIGBREAK', () => process.exit(42)); console.log('ready'); ${FOREVER}`;
    const request = programs.request('tool.exe', ['-e', script]);
    manager.setAllowed([{ path: request.path, stopSignal: 'CTRL_BREAK' }]);
    const run = await manager.start(request);
    assert.match(await firstLineOf(run), /ready/);
    const next = await manager.start({ ...request, replace: true });
    assert.deepEqual(await run.ended, { code: 42, reason: 'replaced' });
    assert.match(await firstLineOf(next), /ready/);
    assert.deepEqual(await next.stop(next.owner.id), { code: 42, reason: 'stopped' });
  });

  it('keeps a run within its limits by its job, or does not start it where the system keeps none', async () => {
    const request = programs.request('tool.exe', ['-e', '0']);
    const limits = { memoryBytes: 2 ** 30, cpus: 0.5, pids: 16 };
    await manager.start({ ...request, limits }).then(
      async (run) => {
        assert.deepEqual(run.limits, { ...limits, means: 'jobObject' });
        assert.deepEqual(await run.ended, { code: 0, reason: 'exited' });
      },
      (error: unknown) => assert.equal(errnoOf(error), 'limitsUnavailable'),
    );
  });

  it('waits a moment for whoever looks into the copy of before, and no longer', async () => {
    const request = programs.request('shell.exe', ['/d', '/c', 'exit 0']);
    await (
      await manager.start(request)
    ).ended;
    const copy = programs.pathOf('rancher-wins-shell.exe');
    const forLong = holdFile(copy);
    await assert.rejects(manager.start(request), { code: 'stagingFailed' });
    forLong.close();
    const briefly = holdFile(copy);
    setTimeout(() => briefly.close(), 100);
    assert.equal((await (await manager.start(request)).ended).code, 0);
  });

  it('holds the copy until it runs: nobody can change it in between (A16)', async () => {
    const attempts: string[] = [];
    const host = hostOnWindows();
    const watched = managerOnWindows(programs.directory, ['shell.exe'], {
      ...host,
      start: (command) => {
        for (const attack of [writeFileSync, renameSync, unlinkSync] as const) {
          try {
            attack(command.file, `${command.file}.evil`);
            attempts.push('done');
          } catch (error) {
            attempts.push((error as NodeJS.ErrnoException).code ?? '');
          }
        }
        return host.start(command);
      },
    });
    const run = await watched.start(programs.request('shell.exe', ['/d', '/c', 'exit 4']));
    assert.equal((await run.ended).code, 4);
    assert.deepEqual(
      attempts.map((code) => /^(?:EBUSY|EPERM)$/.test(code)),
      [true, true, true],
    );
    await watched.close();
  });

  it('runs no batch file, whatever its spelling', async () => {
    for (const name of ['x.bat', 'x.CMD', 'x.bat.', 'x.cmd ', 'x.bat::$DATA', 'x.cmd. .']) {
      const odd = { ...programs.request('shell.exe'), path: programs.pathOf(name) };
      manager.setAllowed([{ path: odd.path }]);
      await assert.rejects(manager.start(odd), { code: 'invalidPath' }, name);
    }
  });

  it('needs its host: that of POSIX is not for Windows', () => {
    assert.throws(() => posixProcessHost(), { code: 'unavailable' });
  });
});

describe('the spelling of a path', () => {
  const programs = new WindowsPrograms();
  programs.add('a tool.exe', cmd);
  after(() => programs.close());
  const file = programs.pathOf('a tool.exe');
  const folder = path.dirname(file);

  it('opens the file that the policy compared, or is refused', () => {
    const spellings = [
      file,
      file.toUpperCase(),
      file.replaceAll('\\', '/'),
      file.replaceAll('\\', '\\\\').replace('\\\\', '\\'),
      `${file}.`,
      `${file} `,
      `${file}. .`,
      `${file}\\`,
      `${file}::$DATA`,
      `${file}\0`,
      `\\\\?\\${file}`,
      `\\\\.\\${file}`,
      `\\??\\${file}`,
      `\\\\?\\GLOBALROOT\\DosDevices\\${file}`,
      `\\\\localhost\\${file.replace(':', '$')}`,
      `${folder}.\\a tool.exe`,
      `${folder}\\.\\a tool.exe`,
      `${folder}\\x\\..\\a tool.exe`,
      `${folder}\\ATOOL~1.EXE`,
      `${folder}\\a tool`,
      `${folder}\\a\u3000tool.exe`,
      `${folder}\\NUL`,
      `${folder}\\nul.exe`,
      `${folder}\\COM1`,
      `${folder}\\COM¹.exe`,
      `${folder}\\CONOUT$`,
      `${folder}\\AUX .txt`,
      file.slice(2),
      `C:${path.basename(file)}`,
      path.basename(file),
      '%ComSpec%',
    ];
    const opened = spellings.flatMap((spelling) => {
      const verdict = judgeExecutablePath(spelling, [{ path: spelling }], 'windows');
      if (!verdict.allowed || !opens(verdict.canonical)) return [];
      assert.equal(windowsFileTrust().distrustOfFile(verdict.canonical), undefined, spelling);
      return [spelling];
    });
    // Only the first four spellings are accepted, although Windows opens some of the others.
    assert.deepEqual(opened, spellings.slice(0, 4));
    const others = spellings.slice(4).filter(opens);
    assert.ok(others.includes(`${file}.`) && others.includes(`\\\\.\\${file}`), others.join());
  });
});

// Calls Windows directly, because Node adds a prefix that makes Windows take paths literally.
function opens(file: string): boolean {
  try {
    return fileSecurity(file) !== '';
  } catch {
    return false;
  }
}
