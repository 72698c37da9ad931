import { closeSync, copyFileSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Effects } from './effects.js';
import { askVersion, runProgram } from './run-program.js';

const LIMIT_MS = 30_000;

describe('running a program', () => {
  let folder: string;
  let program: string;
  let waits: number[];

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'wins-run-'));
    program = path.join(folder, 'program');
    waits = [];
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const effects = (onWait: () => void = () => undefined): Effects =>
    new Effects(undefined, {
      sleep: (delayMs) => {
        waits.push(delayMs);
        onWait();
        return Promise.resolve();
      },
    });

  it('waits until nobody has the program open for writing any more', async () => {
    copyFileSync('/bin/true', program);
    const writer = openSync(program, 'r+');
    const release = (): void => {
      if (waits.length === 2) closeSync(writer);
    };
    expect(await runProgram(effects(release), program, [], LIMIT_MS)).toMatchObject({ code: 0 });
    expect(waits).toEqual([10, 40]);
  });

  it('gives up after six tries, and says so', async () => {
    copyFileSync('/bin/true', program);
    const writer = openSync(program, 'r+');
    try {
      await expect(runProgram(effects(), program, ['--version'], LIMIT_MS)).rejects.toMatchObject({
        code: 'programFailed',
        message: expect.stringMatching(/--version: .*ETXTBSY.*\(tried 6 times\)$/) as string,
      });
    } finally {
      closeSync(writer);
    }
    expect(waits).toEqual([10, 40, 160, 640, 2560]);
  });

  it('does not try again what waiting does not change', async () => {
    await expect(askVersion(effects(), program, LIMIT_MS)).rejects.toThrow(/ENOENT$/);
    writeFileSync(program, 'text', { mode: 0o600 });
    await expect(askVersion(effects(), program, LIMIT_MS)).rejects.toThrow(/EACCES$/);
    expect(waits).toEqual([]);
  });
});
