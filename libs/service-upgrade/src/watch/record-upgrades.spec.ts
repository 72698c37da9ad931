import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { recordUpgrades, type UpgradeDecision, type UpgradeRecords } from './record-upgrades.js';
import { upgradeFolder } from '../journal/upgrade-paths.js';

const RESULT = {
  format: 1,
  at: '2026-01-02T03:04:05.000Z',
  id: 'pod-1',
  outcome: 'upgraded',
  reason: 'well',
  from: { version: 'v1.0.0', sha256: 'a' },
  to: { version: 'v1.1.0', sha256: 'b' },
  askedBy: 'ab12',
  serviceArgs: { before: ['srv', '--debug'], after: ['srv'] },
};

describe('the record of an upgrade', () => {
  let folder: string;
  let program: string;
  let records: UpgradeRecords | undefined;
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'wins-records-')));
    program = path.join(folder, 'wins');
    mkdirSync(`${program}.upgrade`);
  });
  afterEach(() => {
    records?.close();
    rmSync(folder, { recursive: true });
  });

  const file = (name: string) => path.join(`${program}.upgrade`, name);
  const leave = (id: string, text = JSON.stringify({ ...RESULT, id })): string => {
    writeFileSync(file(`record-${id}.json`), text);
    return file(`record-${id}.json`);
  };
  const taken = (count: number, runningFile = program, meanwhile?: () => void) =>
    new Promise<UpgradeDecision[]>((resolve) => {
      const found: UpgradeDecision[] = [];
      const take = (decision: UpgradeDecision) => {
        found.push(decision);
        if (found.length === count) resolve(found);
        meanwhile?.();
        return undefined;
      };
      records = recordUpgrades(upgradeFolder(runningFile), take, { error: () => undefined });
    });
  const gone = async (name: string): Promise<void> => {
    while (existsSync(name)) await new Promise((resolve) => setImmediate(resolve));
  };

  it('says who asked, what was before and what came of it, and is taken once', async () => {
    const left = leave('pod-1');
    expect(await taken(1)).toEqual([
      {
        action: 'upgrade',
        verdict: 'allowed',
        requester: 'run ab12',
        id: 'pod-1',
        outcome: 'upgraded',
        reason: 'well',
        endedAt: RESULT.at,
        from: RESULT.from,
        to: RESULT.to,
        argsBefore: ['srv', '--debug'],
        argsAfter: ['srv'],
      },
    ]);
    await gone(left);
  });

  it('is taken by a daemon on trial, when the upgrade that it is part of has ended', async () => {
    const staged = file('wins-1.1.0');
    writeFileSync(staged, '');
    writeFileSync(file('journal.json'), '{}');
    leave('before');
    // The second record is written only after the first was taken.
    const found = await taken(2, staged, () => leave('pod-2'));
    expect(found.map(({ id }) => id)).toEqual(['before', 'pod-2']);
  });

  it('that is none is told as such, and takes nothing else with it', async () => {
    leave('a', 'no JSON');
    leave('b', '[]');
    leave('c');
    const found = await taken(3);
    expect(found.map(({ outcome }) => outcome)).toEqual(['unknown', 'unknown', 'upgraded']);
  });

  it('stays for the next daemon when it cannot be written', async () => {
    const left = leave('pod-1');
    const logged = new Promise<string>((resolve) => {
      const logger = {
        error: ({ err }: { err?: unknown }) => resolve(String(err)),
      };
      const refuse = (): never => {
        throw new Error('the audit log is full');
      };
      records = recordUpgrades(upgradeFolder(program), refuse, logger);
    });
    expect(await logged).toContain('the audit log is full');
    expect(existsSync(left)).toBe(true);
  });
});
