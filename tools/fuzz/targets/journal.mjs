import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

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
const PLACES = [...Object.keys(RECORD), 'to.sha256', 'to.sha1', 'from.version', 'newCommand.args'];
const VALUES = [null, 0, 1, 2, '', 'x', [], ['x'], [1], {}, true, '__proto__', 'toString'];
const TEXTS = ['', '{', '}', '"', ',', '\0', '\ufeff', '\\u0000', '[', '1e999', '\ud800'];

/** What is on the disk is a record of ours in every field, or unreadable. */
export async function openJournal({ UpgradeJournal, upgradePlaces, Effects }) {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-fuzz-journal-'));
  const places = upgradePlaces(path.join(folder, 'wins'));
  mkdirSync(places.folder);
  const journal = new UpgradeJournal(places, new Effects());
  return {
    name: 'journal',
    generate: (rng) => ({
      steps: [
        ...rng.list(3, () => ['set', rng.pick(PLACES), rng.pick([...VALUES, ...PHASES])]),
        ...rng.list(2, () => ['remove', rng.pick(PLACES)]),
        ...rng.list(rng.pick([0, 0, 3]), () => ['insert', rng.below(700), rng.pick(TEXTS)]),
        ...rng.list(rng.pick([0, 0, 2]), () => ['cut', rng.below(700), 1 + rng.below(20)]),
      ],
      nested: rng.chance(0.01) ? rng.below(200_000) : 0,
    }),
    async run({ steps, nested }) {
      writeFileSync(places.journal, '['.repeat(nested) + textOf(steps));
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

function textOf(steps) {
  const record = structuredClone(RECORD);
  for (const [verb, where, value] of steps) {
    if (verb !== 'set' && verb !== 'remove') continue;
    const names = where.split('.');
    const last = names.pop();
    const inside = names.reduce((object, name) => object?.[name], record);
    if (typeof inside !== 'object' || inside === null) continue;
    if (verb === 'set') inside[last] = structuredClone(value);
    else delete inside[last];
  }
  let text = JSON.stringify(record, null, 2);
  for (const [verb, at, what] of steps) {
    if (verb === 'insert') text = text.slice(0, at) + what + text.slice(at);
    if (verb === 'cut') text = text.slice(0, at) + text.slice(at + what);
  }
  return text;
}
