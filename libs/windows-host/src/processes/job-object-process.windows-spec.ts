import type { TreeLimits } from '@wins/base';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { after, describe, it } from 'node:test';
import { unlessFails } from '../windows-error.js';
import { holdFile } from '../access/file-hold.js';
import { JobObjectProcess } from './job-object-process.js';
import { systemPath } from '../win32/calls/system-library.js';
import { handlesInUse } from '../testing/handles-in-use.js';
import type { Program } from './windows-process-start.js';

const node = process.execPath;
const directory = mkdtempSync(path.join(tmpdir(), 'wins-'));
after(() => rmSync(directory, { recursive: true }));

function program(args: readonly string[], overrides: Partial<Program> = {}): Program {
  return { file: node, argv0: node, args, env: {}, directory, ...overrides };
}

const start = (of: Program, mayBreakAway = false): JobObjectProcess =>
  JobObjectProcess.start(of, { mayBreakAway });

async function textOf(stream: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

async function run(of: Program): Promise<{ code: number; stdout: string; stderr: string }> {
  const child = start(of);
  const [{ code }, stdout, stderr] = await Promise.all([
    child.exited,
    textOf(child.stdout),
    textOf(child.stderr),
  ]);
  child.close();
  return { code, stdout, stderr };
}

describe('a process in a job object', () => {
  for (const code of [0, 1, 300, 0xc000_0005, 0xffff_ffff]) {
    it(`ends with ${code} as it is`, async () => {
      const { code: found } = await run(program(['-e', `process.reallyExit(${code} | 0)`]));
      assert.equal(found, code);
    });
  }

  it('gets its arguments, its variables, its name and its folder as they are', async () => {
    const args = [
      'a b',
      '',
      'say "hi"',
      'tail\\',
      'tail \\',
      '\\\\"',
      'grüße 你好 😀',
      '%PATH%',
      '&|^!',
    ];
    const script =
      'console.log(JSON.stringify([process.argv.slice(1), process.env.A, process.argv0, process.cwd()]))';
    const argv0 = 'C:\\not there\\tool.exe';
    const env = { A: 'ä=b', PATH: 'x' };
    const { stdout } = await run(program(['-e', script, '--', ...args], { argv0, env }));
    assert.deepEqual(JSON.parse(stdout), [args, 'ä=b', argv0, directory]);
  });

  it('has nothing to read', async () => {
    const script = 'process.stdin.on("end",()=>console.log("end")).resume()';
    assert.equal((await run(program(['-e', script]))).stdout, 'end\n');
  });

  describe('with limits', () => {
    const MIB = 1024 * 1024;
    /** Undefined on Wine, which accepts limits but does not enforce them. */
    const limited = (script: string, limits: TreeLimits): JobObjectProcess | undefined =>
      unlessFails(() => JobObjectProcess.start(program(['-e', script]), { limits }), 'unavailable');

    it('tells the exit of a program that ends after its job is closed', async () => {
      const child = limited('setInterval(() => undefined, 1000)', { memoryBytes: 256 * MIB });
      if (child === undefined) return;
      await child.terminate('force');
      child.close();
      assert.deepEqual(await child.exited, { code: 1 });
    });

    it('starts no more processes than it may have, or nothing where the system keeps no limit', async () => {
      const script = `require('node:child_process').spawn(process.execPath, ['-e', '0'])
        .on('error', () => process.exit(3)).on('exit', (code) => process.exit(code === 0 ? 0 : 3))`;
      const child = limited(script, { pids: 1 });
      if (child === undefined) return;
      assert.deepEqual(await child.exited, { code: 3 });
      child.close();
    });

    it('gets no more memory than it may have, and it is told why it ended', async () => {
      const script = `const all = []; for (;;) all.push(Buffer.alloc(${4 * MIB}, 1))`;
      const child = limited(script, { memoryBytes: 256 * MIB });
      if (child === undefined) return;
      const exit = await child.exited;
      assert.notEqual(exit.code, 0);
      assert.equal(exit.outOfMemory, true);
      child.close();
    });
  });

  it('is one of many that end at the same time', async () => {
    const cmd = systemPath('cmd.exe');
    const of = (at: number): Program =>
      program(['/d', '/c', `exit ${at}`], { file: cmd, argv0: cmd });
    const children = Array.from({ length: 20 }, (_, at) => start(of(at)));
    const exits = await Promise.all(children.map(({ exited }) => exited));
    assert.deepEqual(
      exits,
      Array.from(children, (_, code) => ({ code })),
    );
    for (const child of children) child.close();
  });

  it('leaves no handle behind', async () => {
    const file = path.join(directory, 'tool.exe');
    copyFileSync(systemPath('cmd.exe'), file);
    const wrong = program([], { file: path.join(directory, 'absent.exe') });
    const runs = async (count: number): Promise<number> => {
      for (let at = 0; at < count; at += 1) {
        const held = holdFile(file);
        const child = start(program(['/d', '/c', 'exit 0'], { file, argv0: file }));
        held.close();
        const outputs = [child.stdout, child.stderr].map((stream) =>
          once(stream.resume(), 'close'),
        );
        assert.deepEqual(await child.exited, { code: 0 });
        child.close();
        await Promise.all(outputs);
        assert.throws(() => start(wrong), { code: 'notFound' });
      }
      // Destroyed streams close their handles later.
      await new Promise((turn) => setTimeout(turn, 20));
      return handlesInUse();
    };
    const before = await runs(10);
    const after = await runs(50);
    // A run has eight handles. If each run kept one, there would be fifty more.
    assert.ok(after < before + 10, `${before} handles became ${after}`);
  });

  it('runs programs of the system', async () => {
    const cmd = systemPath('cmd.exe');
    const { code, stdout } = await run(
      program(['/d', '/c', 'echo hello&exit 7'], { file: cmd, argv0: cmd }),
    );
    assert.deepEqual([code, stdout], [7, 'hello\r\n']);
  });
});
