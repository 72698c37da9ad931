// node tools/prose.mjs [--write] [PART OF A PATH …]
// Counts text that breaks the rules of CONTRIBUTING.md, and fails if a file's count exceeds tools/prose-debt.json. --write records the current counts
// there. With a part of a path it lists such text in matching files, and does not fail.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { findings } from './prose-rules.mjs';

const root = path.resolve(import.meta.dirname, '..');
const debtFile = path.join(root, 'tools/prose-debt.json');
/** Files that are generated or written by others. */
const EXEMPT = /(?:^|\/)(?:gen|node_modules|man)\/|^docs\/commands\.md$|^etc\/|LICENSE|^CHANGELOG/;

const { values, positionals: parts } = parseArgs({
  options: { write: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => /\.(?:[cm]?ts|[cm]js|md)$/.test(file) && !EXEMPT.test(file))
  .filter((file) => parts.length === 0 || parts.some((part) => file.includes(part)));

/** @type {Record<string, Record<string, number>>} */
const counts = {};
for (const file of files)
  for (const { rule, line, text } of findings(file, readFileSync(path.join(root, file), 'utf8'))) {
    if (parts.length > 0) console.log(`${file}:${line}: ${rule}: ${text}`);
    const ofFile = (counts[file] ??= {});
    ofFile[rule] = (ofFile[rule] ?? 0) + 1;
  }

if (parts.length === 0 && values.write) {
  const lines = Object.entries(counts).map((entry) => entry.map((part) => JSON.stringify(part)));
  writeFileSync(debtFile, `{\n${lines.map((line) => line.join(': ')).join(',\n')}\n}\n`);
} else if (parts.length === 0) {
  const debt = JSON.parse(readFileSync(debtFile, 'utf8'));
  const risen = Object.entries(counts).flatMap(([file, ofFile]) =>
    Object.entries(ofFile)
      .filter(([rule, count]) => count > (debt[file]?.[rule] ?? 0))
      .map(([rule, count]) => `${file}: ${count} × ${rule}, allowed ${debt[file]?.[rule] ?? 0}`),
  );
  for (const line of risen) console.error(line);
  if (risen.length > 0) console.error('`node tools/prose.mjs PATH` shows them');
  process.exitCode = risen.length === 0 ? 0 : 1;
}
const totals = new Map();
for (const ofFile of Object.values(counts))
  for (const [rule, count] of Object.entries(ofFile))
    totals.set(rule, (totals.get(rule) ?? 0) + count);
for (const [rule, count] of totals) console.log(`${String(count).padStart(6)}  ${rule}`);
