import { mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Effects } from '../effects.js';
import type { JournalPhase } from './upgrade-phases.js';
import { UpgradeJournal, type UpgradeRecord } from './upgrade-journal.js';
import { upgradePaths } from './upgrade-paths.js';

const IDENTITY = { sha256: 'a'.repeat(64), sha1: 'b'.repeat(40), version: 'v1.0.0' };
const RECORD: UpgradeRecord = {
  phase: 'staging',
  id: 'one',
  staged: '/opt/wins.upgrade/wins-1',
  from: IDENTITY,
  to: IDENTITY,
  oldCommand: { imagePath: '/opt/wins', args: ['srv'] },
  newCommand: { imagePath: '/opt/wins', args: [] },
  pipe: 'a',
  oldPipe: 'b',
  disturbed: false,
};
const PHASES: readonly JournalPhase[] = [
  'staging',
  'stopping',
  'trial',
  'committing',
  'installing',
  'undoing',
];

describe('the journal', () => {
  let folder: string;
  let names: string[];
  let journal: UpgradeJournal;
  let paths: ReturnType<typeof upgradePaths>;

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'wins-journal-'));
    paths = upgradePaths(path.join(folder, 'wins'));
    mkdirSync(paths.folder);
    names = [];
    const effects = new Effects((effect, action) => {
      names.push(effect);
      return action();
    });
    journal = new UpgradeJournal(paths, effects);
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('says nothing when nothing is under way', async () => {
    expect(await journal.read()).toBeUndefined();
  });

  it('is read as it was written, until it has ended', async () => {
    await journal.begin(RECORD);
    expect(await journal.read()).toMatchObject(RECORD);
    const record = await journal.move(RECORD, 'stopping', { disturbed: true });
    expect(await journal.read()).toMatchObject({ ...RECORD, phase: 'stopping', disturbed: true });
    await journal.move(record, 'undoing', { reason: 'why' });
    expect(await journal.read()).toMatchObject({ phase: 'undoing', reason: 'why' });
    await journal.end();
    await journal.end();
    expect(await journal.read()).toBeUndefined();
    expect(readdirSync(paths.folder)).toEqual([]);
  });

  it('is on the disk before anything else is done', async () => {
    await journal.begin(RECORD);
    expect(names).toEqual(['write journal.json']);
  });

  it('is not written again for the phase that it is in', async () => {
    await journal.move(RECORD, 'staging', { disturbed: true });
    expect(names).toEqual([]);
  });

  const LEGAL = new Set([
    'staging stopping',
    'staging installing',
    'staging undoing',
    'stopping trial',
    'stopping undoing',
    'trial committing',
    'trial undoing',
    'committing undoing',
    'installing undoing',
  ]);
  it.each(
    PHASES.flatMap((from) => PHASES.filter((to) => to !== from).map((to) => [from, to] as const)),
  )('knows whether %s may be followed by %s', async (from, to) => {
    const moved = journal.move({ ...RECORD, phase: from }, to);
    if (LEGAL.has(`${from} ${to}`)) expect(await moved).toMatchObject({ phase: to });
    else await expect(moved).rejects.toThrow(`an upgrade that is ${from} cannot be ${to}`);
  });

  it.each([
    '',
    'null',
    '[]',
    '{"format":1}',
    JSON.stringify({ format: 1, ...RECORD }).slice(0, -1),
    JSON.stringify({ format: 2, ...RECORD }),
    JSON.stringify({ format: 1, ...RECORD, phase: 'constructor' }),
    JSON.stringify({ format: 1, ...RECORD, to: { ...IDENTITY, sha256: '../x' } }),
    JSON.stringify({ format: 1, ...RECORD, newCommand: { imagePath: '/x', args: [1] } }),
    JSON.stringify({ format: 1, ...RECORD, staged: 7 }),
    JSON.stringify({ format: 1, ...RECORD, disturbed: 'yes' }),
    JSON.stringify({ format: 1, ...RECORD, attempt: 'third' }),
    `${JSON.stringify({ format: 1, ...RECORD })}${' '.repeat(1024 * 1024)}`,
    '\0'.repeat(600),
  ])('is unreadable when it is not what we write (%#)', async (text) => {
    writeFileSync(paths.journal, text);
    expect(await journal.read()).toBe('unreadable');
  });

  it('does not follow a link', async () => {
    writeFileSync(path.join(folder, 'other'), JSON.stringify({ format: 1, ...RECORD }));
    symlinkSync(path.join(folder, 'other'), paths.journal);
    await expect(journal.read()).rejects.toThrow('cannot read');
  });
});
