import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { acceptanceTable, BY_HAND, filedTranscripts, PROBES, transcript } from './acceptance.mjs';

const script = readFileSync(path.resolve(import.meta.dirname, '../windows-acceptance.ps1'), 'utf8');
const named = (pattern) => Array.from(script.matchAll(pattern), ([, name]) => name);

const madeUp = {
  form: 'wins-windows-acceptance/1',
  date: '2001-02-03T04:05:06Z',
  system: { caption: 'Made-up Server', version: '1.2.3', powershell: '5.1', session: '2' },
  wins: { version: 'v0.0.0', sha256: 'a'.repeat(64) },
  probes: Object.keys(PROBES).map((name) => ({ name, result: 'ok', why: '', seen: {} })),
};
const withProbe = (changed) => ({
  ...madeUp,
  probes: madeUp.probes.map((one) => (one.name === changed.name ? { ...one, ...changed } : one)),
});

test('the script has one function for each probe, and runs each once, in this order', () => {
  assert.deepEqual(named(/^function Probe-(\w+)/gm), Object.keys(PROBES));
  assert.deepEqual(named(/^ *Probe '(\w+)'$/gm), Object.keys(PROBES));
});

test('the script writes the form and the keys of a transcript', () => {
  assert.ok(script.includes(`form = '${madeUp.form}'`));
  for (const key of [...Object.keys(madeUp), ...Object.keys(madeUp.system)])
    assert.match(script, new RegExp(`\\b${key} = `), key);
  for (const key of Object.keys(madeUp.probes[0]))
    assert.match(script, new RegExp(`\\b${key} = `), key);
});

test('a transcript has each probe of the script once, and by hand what somebody added', () => {
  assert.ok(transcript.parse(madeUp));
  const [first, ...others] = madeUp.probes;
  const byHand = Object.keys(BY_HAND).map((name) => ({ ...first, name }));
  assert.ok(transcript.parse({ ...madeUp, probes: [...madeUp.probes, ...byHand] }));
  for (const probes of [
    others,
    [first, ...madeUp.probes],
    [...madeUp.probes, { ...first, name: 'x' }],
  ])
    assert.equal(transcript.safeParse({ ...madeUp, probes }).success, false);
  const wrong = [
    { name: 'routes', result: 'maybe' },
    { name: 'routes', why: 'a'.repeat(2001) },
  ];
  for (const one of wrong) assert.equal(transcript.safeParse(withProbe(one)).success, false);
});

test('without a transcript the page says that nothing was tried', () => {
  const page = acceptanceTable([]);
  assert.match(page, /^No transcript of a real Windows is filed yet/);
  assert.ok(page.includes(`none of the ${Object.keys(PROBES).length} probes`));
  assert.ok(page.includes(`the ${Object.keys(BY_HAND).length} statements that a person tests`));
});

test('the page has a column for each transcript, and what was seen, which cannot be markup', () => {
  const seen = { 'owner of | a file': 'S-1-5-93-2-1 <b>\n# x' };
  const page = acceptanceTable([
    transcript.parse(withProbe({ name: 'containerOwner', seen })),
    transcript.parse(withProbe({ name: 'routes', result: 'failed', why: 'no *route*' })),
  ]);
  assert.match(page, /\| Made-up Server 1\.2\.3, 2001-02-03 \| Made-up Server/);
  assert.match(page, /\| `containerOwner` \| ok, see below \| ok \|/);
  assert.match(page, /\| `routes` \| ok \| failed: no \\\*route\\\* \|/);
  assert.match(page, /\| by hand \| not tried \| not tried \|/);
  assert.ok(page.includes('- `containerOwner`: owner of \\| a file: S-1-5-93-2-1 \\<b\\> # x'));
});

test('transcripts are read from a folder, the oldest first, with the mark of Windows PowerShell', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-transcripts-'));
  try {
    const later = { ...madeUp, date: '2002-01-01T00:00:00Z' };
    writeFileSync(path.join(folder, 'a.json'), `\uFEFF${JSON.stringify(later)}`);
    writeFileSync(path.join(folder, 'b.json'), JSON.stringify(madeUp));
    const dates = filedTranscripts(folder).map(({ date }) => date);
    assert.deepEqual(dates, [madeUp.date, later.date]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
