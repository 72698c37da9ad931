import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { writeStackDump } from './write-stack-dump.js';

async function dumpInto(folder: string): Promise<string> {
  const { Diagnostics } = await import('./diagnostics.js');
  return writeStackDump(new Diagnostics(), folder, 0.01);
}

describe('a dump of stacks', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'wins-stacks-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('is a private file of this process, replaces the previous one, and contains no secret', async () => {
    process.env['SOME_TOKEN'] = 'canary-51d0';
    const file = await dumpInto(folder);
    expect(await dumpInto(folder)).toBe(file);
    delete process.env['SOME_TOKEN'];
    expect(path.basename(file)).toBe(`rancher-wins.${process.pid}.stacks.log`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const text = readFileSync(file, 'utf8');
    expect(text).toMatch(/stacks of the JavaScript thread within 0.01 s\n/);
    expect(text).toContain('"javascriptHeap"');
    expect(text).not.toContain('canary-51d0');
    expect(readdirSync(folder)).toEqual([path.basename(file)]);
  });

  it('leaves the seven newest of other processes, and what is none', async () => {
    for (let pid = 1; pid <= 10; pid += 1) {
      const file = path.join(folder, `rancher-wins.${pid}.stacks.log`);
      writeFileSync(file, '');
      utimesSync(file, pid, pid);
    }
    writeFileSync(path.join(folder, 'rancher-wins.log'), '');
    await dumpInto(folder);
    const others = [10, 4, 5, 6, 7, 8, 9].map((pid) => `rancher-wins.${pid}.stacks.log`);
    expect(readdirSync(folder).sort()).toEqual(
      [...others, `rancher-wins.${process.pid}.stacks.log`, 'rancher-wins.log'].sort(),
    );
  });
});
