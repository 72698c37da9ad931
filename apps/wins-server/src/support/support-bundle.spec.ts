import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { addressWithoutSecrets, cleanerOf } from './cleaner.js';
import { logFiles, logTail } from './log-tail.js';
import { makeMember } from './make-member.js';
import { packMembers } from './pack-members.js';

const asItIs = (text: string): string => text;

describe('a member of a bundle', () => {
  it('that fails has the reason as its text', async () => {
    const make = () => Promise.reject(new Error('found no log with TOKEN'));
    const member = { name: 'log.jsonl', maxBytes: 100, make };
    const made = await makeMember(member, (text) => text.replace('TOKEN', '[removed]'));
    expect(made).toMatchObject({ name: 'log.jsonl.error.txt', isFailure: true });
    expect(String(made.content)).toBe('found no log with [removed]\n');
  });

  it('that is too long keeps its end, in whole lines', async () => {
    const lines = Array.from({ length: 100 }, (_, n) => `line ${n}\n`).join('');
    const member = { name: 'log.jsonl', maxBytes: 100, make: () => Promise.resolve(lines) };
    const { content, isCut } = await makeMember(member, asItIs);
    expect(isCut).toBe(true);
    expect(content.length).toBeLessThanOrEqual(100);
    expect(String(content)).toMatch(/^\(the beginning was cut off\)\n(line \d\d\n)+$/);
    expect(String(content)).toMatch(/line 99\n$/);
  });
});

describe('a cleaner', () => {
  it('takes what is known by value, also escaped, and what addresses hold by its form', () => {
    const clean = cleanerOf(['canary-value', 'canary"quoted', 'ab']);
    const said = `canary-value ${JSON.stringify('canary"quoted')} http://u:canary@host/a?k=canary#top`;
    expect(clean(said)).toBe('[removed] "[removed]" http://[removed]@host/a?[removed]#top');
    expect(clean('ab http://host/plain')).toBe('ab http://host/plain');
  });

  it('leaves JSON what it is, whatever ordinary value is a secret', () => {
    const clean = cleanerOf(['true', 'INFO', '8080', '"canary', 'C:\\canary', 'a\ncanary']);
    const record = {
      level: 'info',
      found: true,
      port: 8080,
      at: 180800,
      key: 'C:\\canary\\x',
      said: 'on 8080: "canary" of\na\ncanary',
    };
    const cleaned = {
      level: 'info',
      found: true,
      port: '[removed]',
      at: 180800,
      key: '[removed]\\x',
      said: 'on [removed]: [removed]" of\n[removed]',
    };
    expect(JSON.parse(clean(JSON.stringify(record, null, 2)))).toEqual(cleaned);
    const line = JSON.stringify(record);
    const [cut, whole] = clean(`${line.slice(20)}\n${line}\n`).split('\n');
    expect(JSON.parse(whole ?? '')).toEqual(cleaned);
    expect(cut).not.toContain('canary');
  });

  it('cleans a long word in linear time', () => {
    const word = 'a'.repeat(2 ** 20);
    expect(cleanerOf([])(`${word} http://u:p@host`)).toBe(`${word} http://[removed]@host`);
  });

  it('shows of an address where it leads', () => {
    expect(addressWithoutSecrets('https://u:p@host/a/b?k=v#x')).toBe('https://host/a/b');
  });
});

describe('the files of a bundle', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'wins-support-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('have the newest lines of the log, of as many files as it takes, and of no other file', async () => {
    for (const number of ['000001', '000002', '000010'])
      writeFileSync(path.join(folder, `wins.${number}.log`), `file ${number}\n`);
    for (const other of ['wins.4711.stacks.log', 'other.000011.log', 'wins.9.log'])
      writeFileSync(path.join(folder, other), 'no log\n');
    const tail = async (bytes: number) =>
      String((await logTail(await logFiles(folder, 'wins'), bytes)).bytes);
    expect(await tail(1000)).toBe('file 000001\nfile 000002\nfile 000010\n');
    expect(await tail(24)).toBe('file 000002\nfile 000010\n');
    expect(await tail(23)).toBe('file 000010\n');
    const none = logFiles(path.join(folder, 'none'), 'wins');
    await expect(none).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('are packed below one folder', async () => {
    const content = Buffer.from('text');
    const archive = await packMembers('bundle', [{ name: 'member.txt', content }]);
    const file = path.join(folder, 'bundle.tar.gz');
    writeFileSync(file, archive);
    expect(execFileSync('tar', ['-xzOf', file, 'bundle/member.txt']).toString()).toBe('text');
  });
});
