import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { recallDigest } from './own-digest.js';
import { readDigest } from './read-digest.js';

const LARGE = 2 * 1024 * 1024;

describe('the digest of this program', () => {
  let folder: string;
  let program: string;
  let record: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'wins-digest-'));
    program = path.join(folder, 'wins');
    record = path.join(folder, 'profile', 'wins', 'program-digest.json');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  function write(content: Buffer): string {
    writeFileSync(program, content);
    return createHash('sha1').update(content).digest('hex');
  }
  const ownDigest = async (at = record): Promise<string> =>
    recallDigest(program, at) ?? (await readDigest(program, at));
  /** By the clock of the client the file is old; its own times stay as they are. */
  async function muchLater<T>(task: () => Promise<T>): Promise<T> {
    jest.useFakeTimers({ now: Date.now() + 60_000, doNotFake: ['nextTick', 'setImmediate'] });
    try {
      return await task();
    } finally {
      jest.useRealTimers();
    }
  }

  it('is read from the file once, and then remembered with the state of the file', async () => {
    const digest = write(Buffer.alloc(LARGE, 'a'));
    expect(await muchLater(() => ownDigest())).toBe(digest);
    const known = JSON.parse(readFileSync(record, 'utf8')) as { state: string; sha1: string };
    expect(known.sha1).toBe(digest);
    // It is what was remembered that is answered.
    writeFileSync(record, JSON.stringify({ ...known, sha1: 'f'.repeat(40) }));
    expect(await ownDigest()).toBe('f'.repeat(40));
  });

  it('is that of other bytes as soon as there are other bytes, even under the old times', async () => {
    write(Buffer.alloc(LARGE, 'a'));
    utimesSync(program, 1, 1);
    await muchLater(() => ownDigest());
    const digest = write(Buffer.alloc(LARGE, 'b'));
    utimesSync(program, 1, 1);
    expect(await ownDigest()).toBe(digest);
  });

  it('is not remembered while the file may still change within one tick of the clock', async () => {
    const digest = write(Buffer.alloc(LARGE, 'a'));
    expect(await ownDigest()).toBe(digest);
    expect(() => readFileSync(record)).toThrow('ENOENT');
  });

  it.each([
    ['nothing', ''],
    ['null', 'null'],
    ['half', '{'],
    ['of another form', '{"state":1}'],
    ['too long', ' '.repeat(5000)],
  ])('is read from the file when what was remembered is %s', async (_what, text) => {
    const digest = write(Buffer.alloc(LARGE, 'a'));
    await muchLater(() => ownDigest());
    writeFileSync(record, text);
    expect(await ownDigest()).toBe(digest);
  });

  it('is read each time where it cannot be remembered', async () => {
    const digest = write(Buffer.alloc(LARGE, 'a'));
    writeFileSync(path.join(folder, 'file'), '');
    const none = path.join(folder, 'file', 'below', 'record.json');
    expect(await muchLater(() => ownDigest(none))).toBe(digest);
    const next = write(Buffer.alloc(LARGE, 'b'));
    expect(await muchLater(() => ownDigest(none))).toBe(next);
  });

  it('is read from the file when what was remembered lies behind a link', async () => {
    const digest = write(Buffer.alloc(LARGE, 'a'));
    await muchLater(() => ownDigest());
    const known = JSON.parse(readFileSync(record, 'utf8')) as { state: string };
    const elsewhere = path.join(folder, 'elsewhere');
    writeFileSync(elsewhere, JSON.stringify({ ...known, sha1: 'f'.repeat(40) }));
    rmSync(record);
    symlinkSync(elsewhere, record);
    expect(await ownDigest()).toBe(digest);
  });
});
