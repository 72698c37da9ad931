import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { changedJson, generateChanges } from '../changed-json.mjs';

const IDENTITY = { sha256: 'a'.repeat(64), sha1: 'b'.repeat(40), version: 'v1.0.0' };
const RECORD = {
  format: 1,
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
  reason: 'why',
  askedBy: 'run 1',
};
const PHASES = ['staging', 'stopping', 'trial', 'committing', 'installing', 'undoing'];
/** Checks that reading a journal of any content returns either a record with valid fields or `unreadable`. */
export async function openJournal({ UpgradeJournal, upgradePaths, Effects }) {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-fuzz-journal-'));
  const paths = upgradePaths(path.join(folder, 'wins'));
  mkdirSync(paths.folder);
  const journal = new UpgradeJournal(paths, new Effects());
  return {
    name: 'journal',
    generate: (rng) => ({
      steps: generateChanges(rng, RECORD, { values: PHASES }),
      nested: rng.chance(0.01) ? rng.below(200_000) : 0,
    }),
    async run({ steps, nested }) {
      writeFileSync(paths.journal, '['.repeat(nested) + changedJson(RECORD, steps, 2));
      const record = await journal.read();
      if (record === 'unreadable') return;
      const texts = [record.id, record.staged, record.pipe, record.oldPipe, record.to.sha256];
      const words = [record.oldCommand, record.newCommand].flatMap(
        (command) => command?.args ?? [],
      );
      if (![...texts, ...words].every((text) => typeof text === 'string'))
        throw new Error(`taken for a record: ${JSON.stringify(record)}`);
      if (!PHASES.includes(record.phase) || !/^[0-9a-f]{64}$/.test(record.to.sha256))
        throw new Error(`taken for a record: ${JSON.stringify(record)}`);
    },
    close: () => rmSync(folder, { recursive: true }),
  };
}
