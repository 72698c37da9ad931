import {
  appendFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { buildSync } from 'esbuild';
import { execFileSync } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { auditOptions } from '../../testing/private-folder.js';
import { AuditLog, type AuditLogOptions } from './audit-log.js';
import type { AuditRecord } from './audit-record.js';
import { readAuditLog, verifyAuditLog } from './verify-audit-log.js';

const onPosix = process.platform === 'win32' ? it.skip : it;

/** Writes a record too long for the disk, then a short one. Prints the error code, and whether the first write left only whole lines. */
const FULL_DISK = `
  import { readFileSync } from 'node:fs';
  import path from 'node:path';
  import { auditOptions } from '../../testing/private-folder.ts';
  import { AuditLog } from './audit-log.ts';
  const tried = async (directory) => {
    const log = new AuditLog(auditOptions(directory));
    await log.open();
    const long = { kind: 'long', text: 'x'.repeat(10_000) };
    const { code } = await log.append(long).catch((error) => error);
    const text = readFileSync(path.join(directory, 'audit.00000001.jsonl'), 'utf8');
    console.log(JSON.stringify([code, text.endsWith('"kind":"opened"}\\n')]));
    await log.append({ kind: 'after' });
    await log.close();
  };
  void tried(process.argv[2]);
`;

describe('an audit log', () => {
  let root: string;
  let directory: string;
  const open: AuditLog[] = [];

  beforeEach(async () => {
    root = await mkdtemp(path.join(tmpdir(), 'audit-log-'));
    directory = path.join(root, 'audit');
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((log) => log.close()));
    await rm(root, { recursive: true, force: true });
  });

  async function opened(options: Partial<AuditLogOptions> = {}): Promise<AuditLog> {
    const log = new AuditLog({ ...auditOptions(directory), ...options });
    open.push(log);
    await log.open();
    return log;
  }
  async function records(): Promise<AuditRecord[]> {
    const found: AuditRecord[] = [];
    for await (const some of readAuditLog(directory)) found.push(...some);
    return found;
  }
  const kinds = async (): Promise<string[]> => (await records()).map(({ kind }) => kind);
  const lastFile = async (): Promise<string> =>
    path.join(directory, (await readdir(directory)).sort().at(-1) ?? '');

  it('numbers and chains its records over restarts', async () => {
    for (const kind of ['one', 'two']) {
      const log = await opened();
      await log.append({ kind, fact: 7 });
      await log.close();
    }
    expect(await kinds()).toEqual(['opened', 'one', 'opened', 'two']);
    expect((await records()).map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
    await expect(verifyAuditLog(directory)).resolves.toMatchObject({
      ok: true,
      records: 4,
      firstSeq: 1,
      lastSeq: 4,
      problems: [],
      lost: 0,
    });
  });

  it('has a record on the disk when the wait for it is over', async () => {
    const log = await opened();
    await log.append({ kind: 'start' });
    expect(await readFile(await lastFile(), 'utf8')).toMatch(/"kind":"start"}\n$/);
  });

  it('writes many that wait at once, in their order', async () => {
    const log = await opened();
    await Promise.all(Array.from({ length: 2000 }, (_, n) => log.append({ kind: 'start', n })));
    const numbers = (await records()).slice(1).map(({ n }) => n);
    expect(numbers).toEqual(Array.from({ length: 2000 }, (_, n) => n));
    expect(await verifyAuditLog(directory)).toMatchObject({ ok: true, records: 2001 });
  });

  it('can be checked at its end alone, where an edit shows and one before does not', async () => {
    const log = await opened();
    for (let n = 0; n < 100; n += 1) await log.append({ kind: 'start', n });
    await log.close();
    const file = await lastFile();
    const text = await readFile(file, 'utf8');
    const newestBytes = Math.floor(text.length / 2);
    const part = await verifyAuditLog(directory, { newestBytes });
    expect(part).toMatchObject({ ok: true, lastSeq: 101, problems: [] });
    expect(part.records).toBeGreaterThan(40);
    expect(part.records).toBeLessThan(60);
    await writeFile(file, text.replace('"n":3}', '"n":4}'));
    expect(await verifyAuditLog(directory, { newestBytes })).toEqual(part);
    expect(await verifyAuditLog(directory, { newestBytes: 2 ** 30 })).toMatchObject({ ok: false });
    await writeFile(file, text.replace('"n":90}', '"n":91}'));
    expect(await verifyAuditLog(directory, { newestBytes })).toMatchObject({
      ok: false,
      problemCount: 1,
      lastSeq: 101,
    });
  });

  it('gives foreign text no line and no terminal (A34)', async () => {
    const log = await opened();
    const name = 'a\n{"kind":"forged"}\u001b[2J\u009b\u2028\u202e\u200b\u{e0001}';
    await log.append({ kind: 'start', name });
    const text = await readFile(await lastFile(), 'utf8');
    expect(text).toMatch(/^[\x20-\x7e\n]*$/);
    expect((await records()).at(-1)).toMatchObject({ kind: 'start', name });
  });

  it('cuts facts that are too long for a line, and says so', async () => {
    const log = await opened();
    await log.append({ kind: 'start', path: '\0'.repeat(20_000), list: Array(50).fill('x') });
    expect((await records()).at(-1)).toMatchObject({
      kind: 'start',
      cut: true,
      path: '\0'.repeat(256),
      list: Array(16).fill('x') as unknown,
    });
    await expect(log.append({ kind: 'start', seq: 1 })).rejects.toMatchObject({
      code: 'auditUnavailable',
    });
  });

  it('refuses records beyond its queue, and reports their number afterwards', async () => {
    const log = await opened();
    const outcomes = await Promise.allSettled(
      Array.from({ length: 5000 }, () => log.append({ kind: 'start' })),
    );
    const refused = outcomes.filter(({ status }) => status === 'rejected').length;
    expect(refused).toBe(5000 - 4096);
    for (let n = 0; n < 3000; n += 1) log.note({ kind: 'connect' });
    await log.append({ kind: 'last' });
    await log.close();
    const all = await records();
    const sum = (fact: string) =>
      all.reduce((total, { kind, [fact]: n }) => (kind === 'lost' ? total + Number(n) : total), 0);
    expect(sum('refused')).toBe(refused);
    const written = all.filter(({ kind }) => kind === 'connect').length;
    expect(written + sum('lost')).toBe(3000);
    expect(await verifyAuditLog(directory)).toMatchObject({ ok: true, lost: sum('lost') });
  });

  it('writes ten records of a flood a second, counts the rest, and still records other clients', async () => {
    const log = await opened();
    const flood = { client: 'tunnel:1', verdict: 'refused' };
    for (let n = 0; n < 5000; n += 1) log.note({ kind: 'connect', verdict: 'refused' }, flood);
    await log.append({ kind: 'start', verdict: 'allowed' });
    await log.append({ kind: 'connect' }, { client: 'tunnel:2', verdict: 'refused' });
    await log.close();
    const all = await records();
    const counted = all.filter(({ kind }) => kind === 'counted');
    const total = counted.reduce((sum, { count }) => sum + Number(count), 0);
    const written = all.filter(({ verdict, kind }) => kind === 'connect' && verdict).length;
    expect(total + written).toBe(5000);
    expect(counted[0]).toMatchObject({
      groups: [{ kind: 'connect', client: 'tunnel:1', verdict: 'refused' }],
    });
    expect(all.filter(({ kind }) => kind === 'start')).toHaveLength(1);
    // Ten records are written in each second that the loop above runs.
    expect(written).toBeGreaterThanOrEqual(10);
    expect(written).toBeLessThan(1000);
  });

  it('says what it removed when it is full, and stays whole', async () => {
    const log = await opened({ maxFileBytes: 65_536, maxFiles: 3 });
    const filler = 'x'.repeat(1000);
    for (let n = 0; n < 40; n += 1) {
      await Promise.all(Array.from({ length: 10 }, () => log.append({ kind: 'start', filler })));
    }
    expect((await readdir(directory)).length).toBe(3);
    const verdict = await verifyAuditLog(directory);
    expect(verdict).toMatchObject({ ok: true, problems: [] });
    expect(verdict.firstSeq).toBeGreaterThan(1);
    expect((await kinds()).filter((kind) => kind === 'removed').length).toBeGreaterThan(0);
    await rm(path.join(directory, (await readdir(directory)).sort()[0] ?? ''));
    expect(await verifyAuditLog(directory)).toMatchObject({
      ok: false,
      problems: [{ line: 0, what: expect.stringContaining('missing') as string }],
    });
  });

  it('cuts off the line that a crash left unfinished, and says so', async () => {
    const first = await opened();
    await first.append({ kind: 'start' });
    await first.close();
    await appendFile(await lastFile(), '{"seq":3,"prev":"ab');
    expect(await verifyAuditLog(directory)).toMatchObject({ ok: true, unfinishedBytes: 19 });
    await opened();
    expect(await kinds()).toEqual(['opened', 'start', 'repaired', 'opened']);
    expect((await records())[2]).toMatchObject({ cutBytes: 19 });
    expect(await verifyAuditLog(directory)).toMatchObject({ ok: true, unfinishedBytes: 0 });
  });

  it('goes on behind a file that has nothing but an unfinished line, and one that is empty', async () => {
    const first = await opened();
    await first.close();
    await writeFile(path.join(directory, 'audit.00000002.jsonl'), '{"seq"');
    const second = await opened();
    await second.close();
    await writeFile(path.join(directory, 'audit.00000003.jsonl'), '');
    await opened();
    expect(await kinds()).toEqual(['opened', 'repaired', 'opened', 'opened']);
    expect(await verifyAuditLog(directory)).toMatchObject({ ok: true, lastSeq: 4 });
  });

  it('leaves a file alone that is none of its own, and goes on in the next one', async () => {
    const first = await opened();
    await first.close();
    const foreign = path.join(directory, 'audit.00000002.jsonl');
    await writeFile(foreign, 'x'.repeat(300_000));
    await opened();
    expect(await kinds()).toEqual(['opened', 'repaired', 'opened']);
    expect((await records())[1]).toMatchObject({ keptBytes: 300_000 });
    expect(await readFile(foreign, 'utf8')).toBe('x'.repeat(300_000));
  });

  it('refuses what it cannot write, tells of it, and goes on when it can again', async () => {
    const changes = new EventEmitter();
    let isBroken = false;
    let toldLost = 0;
    const log = await opened({
      onChange: (isAvailable) => changes.emit(String(isAvailable)),
      onLost: (count) => (toldLost += count),
      prepareDirectory: (folder) => {
        if (isBroken) throw new Error('the disk is gone');
        mkdirSync(folder, { recursive: true });
      },
    });
    await log.append({ kind: 'start' });
    const file = await lastFile();
    const kept = await readFile(file);
    isBroken = true;
    await rm(file);
    await expect(log.append({ kind: 'start' })).rejects.toMatchObject({ code: 'auditUnavailable' });
    expect(log.isAvailable).toBe(false);
    log.note({ kind: 'connect' });
    const again = once(changes, 'true');
    await writeFile(file, kept);
    isBroken = false;
    await again;
    expect(log.isAvailable).toBe(true);
    await log.append({ kind: 'stop' });
    expect(await kinds()).toEqual(['opened', 'start', 'resumed', 'stop']);
    expect((await records())[2]).toMatchObject({ lost: 1, refused: 1 });
    expect(log.counts).toEqual({ written: 3, lost: 1, refused: 1 });
    expect(toldLost).toBe(2);
    expect(await verifyAuditLog(directory)).toMatchObject({ ok: true, lost: 1 });
  });

  onPosix('has no part of a record for which the disk had no room', async () => {
    const bundle = path.join(root, 'full-disk.cjs');
    buildSync({
      stdin: { contents: FULL_DISK, resolveDir: __dirname },
      outfile: bundle,
      bundle: true,
      platform: 'node',
      conditions: ['@wins/source'],
    });
    // The shell's limit on file sizes acts as a full disk.
    const script = `trap '' XFSZ; ulimit -f 8; exec "$0" "$@"`;
    const said = execFileSync('/bin/sh', ['-c', script, process.execPath, bundle, directory]);
    expect(JSON.parse(String(said))).toEqual(['auditUnavailable', true]);
    expect(await kinds()).toEqual(['opened', 'resumed', 'after']);
    expect(await verifyAuditLog(directory)).toMatchObject({ ok: true, unfinishedBytes: 0 });
  });

  it('tells at once of all that one failure of the disk has lost', async () => {
    await mkdir(directory, { mode: 0o755 });
    const told: number[] = [];
    const log = await opened({ onLost: (count) => told.push(count) });
    told.length = 0;
    const starts = Array.from({ length: 100 }, () => log.append({ kind: 'start' }));
    for (let n = 0; n < 50; n += 1) log.note({ kind: 'wait' });
    await Promise.allSettled(starts);
    expect(told).toEqual([150]);
  });

  it('is open and not available where its folder is another’s', async () => {
    await mkdir(directory, { mode: 0o755 });
    const reasons: unknown[] = [];
    const log = await opened({ onChange: (_is, reason) => reasons.push(reason?.message) });
    expect(log.isAvailable).toBe(false);
    expect(reasons).toEqual([
      expect.stringMatching(/: group or others have access \(mode 0755\); .*chmod 0700$/),
    ]);
    await expect(log.append({ kind: 'start' })).rejects.toMatchObject({ code: 'auditUnavailable' });
  });

  it('shows that its file was cut short or written to while it was open', async () => {
    const log = await opened();
    await log.append({ kind: 'start', n: 1 });
    await log.append({ kind: 'start', n: 2 });
    const text = await readFile(await lastFile(), 'utf8');
    await truncate(await lastFile(), text.indexOf('\n') + 1);
    await log.append({ kind: 'start', n: 3 });
    expect((await kinds()).slice(1)).toEqual(['repaired', 'start']);
    expect(await verifyAuditLog(directory)).toMatchObject({ ok: false });
  });

  it.each<[string, (lines: string[]) => string[]]>([
    ['an edit', (lines) => lines.map((line) => line.replace('"n":2', '"n":9'))],
    ['a removed line', (lines) => lines.filter((line) => !line.includes('"n":2'))],
    ['a repeated line', ([a = '', b = '', ...rest]) => [a, b, b, ...rest]],
    ['two lines in another order', ([a = '', b = '', c = '', ...rest]) => [a, c, b, ...rest]],
    ['a line of someone else', ([a = '', ...rest]) => [a, '{"kind":"start"}', ...rest]],
    ['a line that never ends', ([a = '', ...rest]) => [a, 'x'.repeat(70_000), ...rest]],
    ['a missing beginning', ([, ...rest]) => rest],
  ])('shows %s', async (_what, change) => {
    const log = await opened();
    for (let n = 1; n <= 5; n += 1) await log.append({ kind: 'start', n });
    await log.close();
    const file = await lastFile();
    const lines = (await readFile(file, 'utf8')).split('\n');
    await writeFile(file, change(lines).join('\n'));
    const { ok, problems } = await verifyAuditLog(directory);
    expect(ok).toBe(false);
    expect(problems[0]?.file).toBe('audit.00000001.jsonl');
    expect(problems[0]?.line).toBeGreaterThan(0);
  });

  it('touches no folder before it is opened, which may be another daemon’s', async () => {
    const log = new AuditLog(auditOptions(directory));
    await expect(log.append({ kind: 'start' })).rejects.toMatchObject({ code: 'auditUnavailable' });
    expect(log.note({ kind: 'connect' })).toBe(true);
    await log.close();
    expect(await readdir(root)).toEqual([]);
  });

  it('takes nothing after it is closed', async () => {
    const log = await opened();
    await Promise.all([log.close(), log.close()]);
    await expect(log.append({ kind: 'start' })).rejects.toMatchObject({
      code: 'auditUnavailable',
      message: 'cannot record start: the audit log is not open',
    });
  });
});
