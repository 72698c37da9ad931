import { readFileSync } from 'node:fs';
import path from 'node:path';

import { posixProcessHost } from '@wins/linux-host';
import { createProcessManager, ProcessError } from './index.js';
import { createPrivateDirectory, writeTestProgram } from './testing/index.js';

describe('the library, by its face', () => {
  it('runs the example of the README', async () => {
    const directory = createPrivateDirectory();
    const program = writeTestProgram(directory.path, 'hello', 'process.stdout.write("hello")');
    const readme = readFileSync(path.join(__dirname, '../README.md'), 'utf8');
    const example = /```ts\n([\s\S]*?)```/.exec(readme)?.[1] ?? '';
    const body = example
      .replace(/^import .*$/gm, '')
      .replace("'/opt/tools/hello'", JSON.stringify(program.path))
      .replace("'/var/lib/rancher-wins/runs'", JSON.stringify(path.join(directory.path, 'state')));
    let written = '';
    const write = (bytes: Buffer) => (written += bytes.toString());
    const names = [
      'createProcessManager',
      'posixProcessHost',
      'ProcessError',
      'createHash',
      'readFile',
      'process',
    ];
    const values = [
      createProcessManager,
      posixProcessHost,
      ProcessError,
      (await import('node:crypto')).createHash,
      (await import('node:fs/promises')).readFile,
      { stdout: { write } },
    ];
    // eslint-disable-next-line @typescript-eslint/no-implied-eval -- runs what the README shows
    const run = new Function(...names, `return (async () => {${body}\nreturn exit;})()`) as (
      ...args: unknown[]
    ) => Promise<unknown>;
    await expect(run(...values)).resolves.toEqual({ code: 0, reason: 'exited' });
    expect(written).toBe('hello');
    directory.close();
  });

  it('keeps code, fields and cause of an error together', () => {
    const cause = new Error('deep');
    const error = new ProcessError('spawnFailed', 'no', {
      cause,
      path: '/a',
      mark: 'b',
      rule: 'c',
    });
    expect(error).toMatchObject({ name: 'ProcessError', code: 'spawnFailed', cause });
    expect(error).toMatchObject({ path: '/a', mark: 'b', rule: 'c' });
    expect(error).toBeInstanceOf(Error);
    expect(new ProcessError('unknown', 'no')).not.toHaveProperty('cause');
  });
});
