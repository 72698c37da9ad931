// node tools/fuzz/fuzz-for.mjs [--minutes M] [--seed X]
// Fuzzes every target, in two processes, for an equal share of M minutes (default 10), and with 50 cases at least. A small young generation causes
// frequent garbage collections, which reveal memory errors sooner. Prints a table and failed cases; exits with 1 after a failure. Needs the built programs.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';

const FUZZ = path.join(import.meta.dirname, 'fuzz.mjs');
const FAILURE = /^(\w+): FAILED /;
const SUMMARY = /^(\w+): seed \d+, (\d+) cases, ([\d.]+ s), slowest (\d+ ms)/;
const TARGETS = [
  'http2',
  'grpc',
  'tunnel',
  'config',
  'journal',
  'files',
  'registry',
  'audit',
  'daemon',
  'signature',
  'spool',
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

/** @type {{ target: string, cases: number, took: string, slowest: string, result: string }[]} */
const rows = TARGETS.map((target) => ({
  target,
  cases: 0,
  took: '',
  slowest: '',
  result: 'ended without a result',
}));
// Loading the tested code takes longer than fuzzing it for seconds, so that each lane is one process.
await Promise.all(
  Array.from({ length: LANES }, (_, lane) => fuzz(rows.filter((_, at) => at % LANES === lane))),
);
console.log(`seed ${values.seed}`);
console.table(rows);
process.exitCode = rows.every(({ result }) => result === 'passed') ? 0 : 1;

/** @param {typeof rows} ofLane - The function fills them in. */
async function fuzz(ofLane) {
  const limits = ['--cases', 'Infinity', '--seconds', String(seconds), '--at-least', LEAST_CASES];
  const targets = ofLane.flatMap(({ target }) => ['--target', target]);
  const args = ['--max-semi-space-size=1', FUZZ, ...targets, ...limits, '--seed', values.seed];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'close');
  for await (const line of createInterface(child.stdout)) {
    const [, name, cases, took, slowest] = SUMMARY.exec(line) ?? [];
    const row = ofLane.find(({ target }) => target === (name ?? FAILURE.exec(line)?.[1]));
    if (row === undefined || name === undefined) console.log(line);
    if (row !== undefined)
      Object.assign(
        row,
        name === undefined
          ? { result: 'FAILED' }
          : { cases: Number(cases), took, slowest, result: 'passed' },
      );
  }
  const [code, signal] = await ended;
  const last = ofLane.at(-1);
  if (code !== 0 && last !== undefined && ofLane.every(({ result }) => result === 'passed'))
    last.result = `FAILED (${signal ?? code})`;
}
