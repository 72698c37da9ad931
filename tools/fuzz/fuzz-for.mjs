// node tools/fuzz/fuzz-for.mjs [--minutes M] [--seed X]
// Fuzzes every target, two at a time, for an equal share of M minutes (default 10), and with 50 cases at least. A small young generation causes
// frequent garbage collections, which reveal memory errors sooner. Prints a table and failed cases; exits with 1 after a failure. Needs the built programs.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';

const FUZZ = path.join(import.meta.dirname, 'fuzz.mjs');
const SUMMARY = /^(\w+): seed \d+, (\d+) cases, ([\d.]+ s), slowest (\d+ ms)/;
const TARGETS = [
  ...['http2', 'grpc', 'tunnel', 'config', 'journal', 'files', 'registry', 'audit', 'daemon'],
  ...['signature', 'spool'],
];

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 32)) },
  },
});
const seconds = (Number(values.minutes) * 60) / TARGETS.length;
if (!(seconds > 0)) throw new Error('--minutes must be a number above 0');

const LANES = 2;
const LEAST_CASES = '50';

const waiting = [...TARGETS];
/** @type {{ target: string, cases: number, took: string, slowest: string, result: string }[]} */
const rows = [];
await Promise.all(Array.from({ length: LANES }, runLane));
console.log(`seed ${values.seed}`);
console.table(rows);
process.exitCode = rows.every(({ result }) => result === 'passed') ? 0 : 1;

async function runLane() {
  for (let target = waiting.shift(); target !== undefined; target = waiting.shift())
    rows.push(await fuzz(target));
}

/** @param {string} target */
async function fuzz(target) {
  const limits = ['--cases', 'Infinity', '--seconds', String(seconds), '--at-least', LEAST_CASES];
  const options = ['--target', target, ...limits, '--seed', values.seed];
  const args = ['--max-semi-space-size=1', FUZZ, ...options];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const row = { target, cases: 0, took: '', slowest: '', result: 'ended without a result' };
  const ended = once(child, 'close');
  for await (const line of createInterface(child.stdout)) {
    const [, , cases, took, slowest] = SUMMARY.exec(line) ?? [];
    if (cases === undefined) console.log(line);
    else Object.assign(row, { cases: Number(cases), took, slowest });
  }
  const [code, signal] = await ended;
  if (row.cases > 0 || code !== 0)
    row.result = code === 0 ? 'passed' : `FAILED (${signal ?? code})`;
  return row;
}
