import { closeSync, copyFileSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { askVersion, runProgram } from './run-program.js';

const LIMIT = { timeoutMs: 30_000 };

describe('running a program', () => {
  let folder: string;
  let program: string;

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'wins-run-'));
    program = path.join(folder, 'program');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('waits until nobody has the program open for writing any more', async () => {
    copyFileSync('/bin/true', program);
    const writer = openSync(program, 'r+');
    const ran = runProgram(program, [], LIMIT);
    // The first try has begun by now.
    closeSync(writer);
    expect(await ran).toMatchObject({ code: 0 });
  });

  it('gives up after six tries, and says so', async () => {
    copyFileSync('/bin/true', program);
    const writer = openSync(program, 'r+');
    try {
      await expect(runProgram(program, ['--version'], LIMIT)).rejects.toMatchObject({
        code: 'programFailed',
        message: expect.stringMatching(/--version: .*ETXTBSY.*\(tried 6 times\)$/) as string,
      });
    } finally {
      closeSync(writer);
    }
  });

  it('does not try again what waiting does not change', async () => {
    await expect(askVersion(program, LIMIT)).rejects.toThrow(
      /: no such file or directory \(ENOENT\)$/,
    );
    writeFileSync(program, 'text', { mode: 0o600 });
    await expect(askVersion(program, LIMIT)).rejects.toThrow(/: permission denied \(EACCES\)$/);
  });
});
