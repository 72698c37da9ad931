import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openRotatingLog, type RotatingLogOptions } from './rotating-log.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'rotating-log-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const openLog = (options: Partial<RotatingLogOptions> = {}) =>
  openRotatingLog({ folder, name: 'wins', maxFileBytes: 10 * MIB, maxFiles: 5, ...options });
const MIB = 1024 * 1024;
const files = (): string[] => readdirSync(folder).sort();
const contentOf = (name: string): string => readFileSync(path.join(folder, name), 'utf8');

describe('a rotating log', () => {
  it('keeps all lines in order, and writes on where it ended', async () => {
    for (const [from, to] of [
      [0, 5000],
      [5000, 5010],
    ] as const) {
      const log = openLog();
      for (let index = from; index < to; index += 1) log.write(`line ${index}\n`);
      await log.close();
    }
    const expected = Array.from({ length: 5010 }, (_, index) => `line ${index}\n`).join('');
    expect(contentOf('wins.000001.log')).toBe(expected);
  });

  it('is never larger than it may be: files are followed, and the oldest deleted', async () => {
    const log = openLog({ maxFileBytes: 100, maxFiles: 3 });
    for (let index = 10; index < 60; index += 1) {
      log.write(`${String(index).padEnd(39)}\n`);
      if (index % 3 === 0) await new Promise(setImmediate);
    }
    await log.close();
    expect(files()).toHaveLength(3);
    expect(contentOf(files().at(-1) ?? '')).toMatch(/59 +\n$/);
    for (const name of files()) expect(contentOf(name).length).toBeLessThanOrEqual(100);
  });

  it('takes a line that is larger than a file, alone', async () => {
    const log = openLog({ maxFileBytes: 10 });
    log.write('short\n');
    await log.close();
    const again = openLog({ maxFileBytes: 10 });
    again.write(`${'x'.repeat(200_000)}\n`);
    again.write('after\n');
    await again.close();
    expect(files().map((name) => contentOf(name).length)).toEqual([6, 200_001, 6]);
  });

  it('leaves files of others alone', async () => {
    for (const name of ['wins.log', 'wins.7.log', 'other.000001.log', 'wins.000009.log.bak'])
      writeFileSync(path.join(folder, name), '');
    const log = openLog({ maxFileBytes: 1, maxFiles: 1 });
    for (let index = 0; index < 5; index += 1) {
      log.write('x\n');
      await new Promise(setImmediate);
    }
    await log.close();
    expect(files()).toEqual(expect.arrayContaining(['other.000001.log', 'wins.7.log', 'wins.log']));
    expect(files()).toHaveLength(5);
  });

  it('begins a new line after one that was cut', async () => {
    writeFileSync(path.join(folder, 'wins.000004.log'), '{"msg":"cu');
    const log = openLog();
    log.write('{"msg":"whole"}\n');
    await log.close();
    expect(contentOf('wins.000004.log')).toBe('{"msg":"cu\n{"msg":"whole"}\n');
  });

  it('drops lines while the disk takes none, says it once, and how many there were afterwards', async () => {
    const problems: unknown[] = [];
    const missing = path.join(folder, 'later');
    const log = openLog({ folder: missing, onProblem: (error) => problems.push(error) });
    log.write('1\n');
    log.write('2\n');
    await until(() => problems.length === 1);
    log.write('3\n');
    await new Promise(setImmediate);
    expect(problems).toMatchObject([{ code: 'ENOENT' }]);
    const clock = jest.spyOn(performance, 'now').mockReturnValue(Number.MAX_SAFE_INTEGER);
    mkdirSync(missing);
    log.write('4\n');
    await log.close();
    clock.mockRestore();
    const [first = '', second] = readFileSync(path.join(missing, 'wins.000001.log'), 'utf8').split(
      '\n',
    );
    expect(JSON.parse(first)).toMatchObject({ level: 'warn', lines: 3 });
    expect(second).toBe('4');
  });

  it('survives a disk that takes nothing', async () => {
    const problems: unknown[] = [];
    symlinkSync('/dev/full', path.join(folder, 'wins.000001.log'));
    const log = openLog({ onProblem: (error) => problems.push(error) });
    log.write('lost\n');
    await log.close();
    expect(problems).toMatchObject([{ code: 'ELOOP' }]);
  });

  it('goes on behind what another program has cut, and in a new file for one that was removed', async () => {
    const log = openLog();
    const written = async (line: string): Promise<void> => {
      log.write(line);
      await until(() => files().length > 0 && contentOf('wins.000001.log').endsWith(line));
    };
    await written('1\n');
    truncateSync(path.join(folder, 'wins.000001.log'));
    await written('2\n');
    expect(contentOf('wins.000001.log')).toBe('2\n');
    rmSync(path.join(folder, 'wins.000001.log'));
    log.write('3\n');
    await log.close();
    expect(contentOf('wins.000001.log')).toBe('3\n');
  });

  it('holds only so much for a disk that is slow', async () => {
    const log = openLog();
    const line = `${'x'.repeat(1024 * 1024 - 1)}\n`;
    for (let index = 0; index < 10; index += 1) log.write(line);
    log.write('after\n');
    await log.close();
    const [first = '', ...lines] = contentOf('wins.000001.log').split('\n');
    expect(JSON.parse(first)).toMatchObject({ lines: 7 });
    expect(lines.map((text) => text.length)).toEqual([
      ...Array<number>(4).fill(1024 * 1024 - 1),
      0,
    ]);
  });

  it('ends once', async () => {
    const log = openLog();
    log.write('1\n');
    await Promise.all([log.close(), log.close()]);
    log.write('2\n');
    await log.close();
    expect(contentOf('wins.000001.log')).toBe('1\n');
  });
});

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise(setImmediate);
}
