import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  MAX_OUTPUT_FILE_BYTES,
  MAX_OUTPUT_FILES,
  MAX_OUTPUTS_BYTES,
  OutputFiles,
} from './output-files.js';
import { posixPlanFiles } from './plan-files.js';

let folder: string;
beforeEach(() => (folder = mkdtempSync(path.join(tmpdir(), 'outputs-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const names = (): string[] => readdirSync(folder).sort();

async function write(outputs: OutputFiles, name: string, ...parts: Buffer[]): Promise<void> {
  const file = await outputs.open(name);
  for (const part of parts) file.add(part);
  expect(await file.close()).toBeUndefined();
}

describe('whole outputs', () => {
  it('are kept up to a number, also across starts of the agent; the oldest go', async () => {
    const text = Buffer.from('x');
    const first = new OutputFiles(folder, posixPlanFiles());
    writeFileSync(path.join(folder, 'note'), 'of a person');
    for (let index = 0; index < MAX_OUTPUT_FILES; index += 1)
      await write(first, `${1000 + index}`, text);
    expect(names()).toHaveLength(MAX_OUTPUT_FILES + 1);
    const second = new OutputFiles(folder, posixPlanFiles());
    await write(second, '2000', text);
    expect(names()).toHaveLength(MAX_OUTPUT_FILES + 1);
    expect(names()[0]).toMatch(/^1001-/);
    expect(names().at(-1)).toBe('note');
  });

  it('are kept up to a sum of their sizes', async () => {
    const count = MAX_OUTPUTS_BYTES / MAX_OUTPUT_FILE_BYTES;
    for (let index = 0; index < count; index += 1) {
      const sparse = path.join(folder, `${1000 + index}-0.out`);
      writeFileSync(sparse, '');
      truncateSync(sparse, MAX_OUTPUT_FILE_BYTES);
    }
    await write(new OutputFiles(folder, posixPlanFiles()), '2000', Buffer.from('x'));
    expect(names()[0]).toBe('1001-0.out');
    expect(names()).toHaveLength(count);
  });

  it('end at 16 MiB, and say how much follows', async () => {
    const half = Buffer.alloc(MAX_OUTPUT_FILE_BYTES / 2, 'a');
    await write(
      new OutputFiles(folder, posixPlanFiles()),
      'big',
      half,
      half,
      Buffer.alloc(10),
      Buffer.alloc(5),
    );
    const [name = ''] = names();
    const end = readFileSync(path.join(folder, name)).subarray(MAX_OUTPUT_FILE_BYTES - 2);
    expect(end.toString()).toBe('aa\n[wins: 15 more bytes were not kept]\n');
  });

  it('that cannot be written say so once, and take what comes', async () => {
    const outputs = new OutputFiles(folder, posixPlanFiles());
    const file = await outputs.open('a');
    rmSync(folder, { recursive: true });
    file.add(Buffer.from('x'));
    const failure = await file.close();
    expect(failure?.message).toMatch(/^cannot write ".*\.out": .*(?<!ENOENT)$/);
    await write(outputs, 'b', Buffer.from('y'));
    expect(names()).toHaveLength(1);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });

  it('have no file when there was nothing', async () => {
    await write(new OutputFiles(folder, posixPlanFiles()), 'a');
    expect(names()).toEqual([]);
  });
});
