// The Windows suite: bundles every `*.windows-spec.ts`, and with --long every `*.windows-long-spec.ts`, and runs them with the test runner of the
// Windows node.exe, under Wine or on Windows itself.
// node tools/windows/run-specs.mjs [--long [--all]] [--built] [PART OF A PATH …]
// --all also runs `*.windows-release-spec.ts`, and every case instead of a sample, which takes hours.
// --built skips the build, which briefly removes programs that other processes may run.
import { build } from 'esbuild';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { emptyResult, printReport } from '../suite/report.mjs';
import { trySecondTime } from '../suite/second-try.mjs';
import { needsOf as needsOfFile } from '../suite/spec-files.mjs';
import { placeFile } from '../place-file.mjs';
import { whyNot } from '../prepare.mjs';
import { build as buildAll, checks } from '../suite/checks.mjs';
import { missingForDisks, mountDisks, unmountDisks } from './disks.mjs';
import { koffiBesideBundle } from './koffi-plugin.mjs';
import { cacheFolder, pinnedFile } from './packages.mjs';
import { startWine, windowsPath } from './wine.mjs';

const root = path.resolve(import.meta.dirname, '../..');
const out = path.join(cacheFolder, 'suite');
/** Guards against a hanging spec file; the longest takes 15 minutes on a slow machine. */
const LIMIT_MS = 1_800_000;
const ALL_LIMIT_MS = 5 * LIMIT_MS;
/**
 * Number of specs that run at once. Under Wine several can run, because specs mainly wait and each has a Wine prefix to itself. Specs of Jest run
 * beside these, and more programs at once than processors cost a fifth more time. On Windows only one can run, because all specs use the same machine.
 */
const LANES = process.platform === 'win32' ? 1 : 2;

const { WINS_TEST_SEED } = process.env;

const { values, positionals: parts } = parseArgs({
  options: {
    long: { type: 'boolean', default: false },
    all: { type: 'boolean', default: false },
    built: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});
const files = ['libs', 'apps']
  .flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true }).map((name) =>
      path.join(folder, name),
    ),
  )
  .filter((name) => !name.includes('node_modules'))
  .filter((name) => parts.length === 0 || parts.some((part) => name.includes(part)))
  .sort();
const named = (suffix) => files.filter((name) => name.endsWith(`.windows-${suffix}.ts`));
const long = [...named('long-spec'), ...(values.all ? named('release-spec') : [])];
const specs = [...named('spec'), ...(values.long ? long : [])];

const result = emptyResult('Windows suite');
if (!values.built) await buildAll();
result.failures.push(...checks.failures);
const runnable = specs.filter(hasWhatItNeeds);
if (needDisks(specs) && missingForDisks !== undefined)
  result.notes.push(`SKIPPED: upgrades on full and read-only disks: they need ${missingForDisks}`);

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
const addon = pinnedFile('@koromix/koffi-win32-x64');
// The bundled specs, and programs that they start, load the addon from a file beside them.
for (const folder of [out, path.join(root, 'dist')].filter(existsSync)) {
  placeFile(addon, path.join(folder, 'koffi-win32-x64.node'));
}

const failures = [];
/** Prerequisites that are made. */
const made = new Set();
const making = makePrerequisites();
// Starts specs with the most needs first, then the largest: these run longest, so the lanes end at about the same time.
const waiting = runnable.toSorted(
  (a, b) => needsOf(b).length - needsOf(a).length || sizeOf(b) - sizeOf(a),
);
const machines = [];
try {
  const lanes = Array.from({ length: Math.min(LANES, waiting.length) }, (_, lane) => lane);
  // The read-only disk has a copy of a release.
  if (needDisks(runnable)) await making.get('releases');
  // Start the machines in sequence, because the first start also creates files that all machines share.
  for (const lane of lanes) machines.push(startMachine(lane));
  await Promise.all(machines.map(runLane));
  if (failures.length > 0) {
    // The second try starts from a fresh machine.
    for (const machine of machines.splice(0)) machine.stop();
    machines.push(startMachine(0));
  }
  const second = await trySecondTime(failures, result.files, (spec) => runSpec(spec, machines[0]));
  result.passed += second.passed;
  result.failures.push(...second.failures);
  result.unsteady = second.unsteady;
} finally {
  for (const machine of machines) machine.stop();
  unmountDisks();
}
writeFileSync(path.join(cacheFolder, 'summary.json'), JSON.stringify(result));
const isGreen = printReport([result]);
process.exit(isGreen && result.passed > 0 ? 0 : 1);

async function runLane(machine) {
  for (;;) {
    const own = waiting.filter((spec) => machine.hasDisks || !needsOf(spec).includes('disks'));
    if (own.length === 0) return;
    const spec = own.find((each) => unmade(each).length === 0);
    if (spec === undefined) {
      await Promise.race(own.flatMap(unmade).map(async (need) => making.get(need)));
      continue;
    }
    waiting.splice(waiting.indexOf(spec), 1);
    const { durationMs, passed, skipped, failures: bad } = await runSpec(spec, machine);
    result.files.push({ file: spec, durationMs, passed });
    result.passed += passed;
    result.skipped += skipped;
    failures.push(...bad);
  }
}

/**
 * Starts a machine: a Wine prefix, or Windows itself. A machine runs one spec at a time. Only the machine of lane 0 runs specs that need the full
 * and the read-only disk.
 */
function startMachine(lane) {
  const hasDisks = lane === 0;
  if (process.platform === 'win32') {
    return {
      command: [process.execPath],
      env: process.env,
      see: path.resolve,
      hasDisks,
      stop: () => undefined,
    };
  }
  const { node, program, environment: env, prefix, stop } = startWine(`prefix-${lane}`);
  // Without the disks, specs skip the tests that need them.
  if (hasDisks && needDisks(runnable) && missingForDisks === undefined)
    mountDisks(prefix, path.join(root, 'dist/upgrade/v1.0.0.exe'));
  return { command: [program, node], env, see: windowsPath, hasDisks, stop };
}

/** @param {string} spec */
function sizeOf(spec) {
  return statSync(path.join(root, spec)).size;
}

/** @param {string} spec */
function needsOf(spec) {
  return needsOfFile(path.join(root, spec));
}

/** A spec with an unavailable need is skipped with a note, or fails if no skips are allowed. */
function hasWhatItNeeds(spec) {
  const missing = prerequisitesOf(spec)
    .map(whyNot)
    .find((reason) => reason !== undefined);
  if (missing === undefined) return true;
  const message = `it needs ${missing}`;
  if (process.env.WINS_REQUIRE_WINDOWS === '1')
    result.failures.push({ file: spec, title: 'what it needs is there', message });
  else {
    result.skipped += 1;
    result.notes.push(`SKIPPED: ${spec}: ${message}`);
  }
  return false;
}

/** @param {string} spec */
function prerequisitesOf(spec) {
  return needsOf(spec).filter((need) => need !== 'disks');
}

/** @param {string} spec */
function unmade(spec) {
  return prerequisitesOf(spec).filter((need) => !made.has(need));
}

/** Makes all prerequisites, one after the other, while specs run that do not need them. Returns a promise for each. */
function makePrerequisites() {
  const needs = new Set(runnable.flatMap(prerequisitesOf));
  let before = Promise.resolve();
  return new Map(
    Array.from(needs, (need) => {
      before = before.then(() => makePrerequisite(need));
      // A lane that waits for it fails.
      before.catch(() => undefined);
      return [need, before];
    }),
  );
}

/** @param {string} need */
async function makePrerequisite(need) {
  const tool = path.join(root, 'tools/prepare.mjs');
  const child = spawn(process.execPath, [tool, need], { stdio: ['ignore', 'ignore', 'inherit'] });
  const [code, signal] = await once(child, 'exit');
  if (code !== 0) throw new Error(`cannot make "${need}" for specs: ended with ${code ?? signal}`);
  made.add(need);
}

function needDisks(all) {
  return all.some((spec) => needsOf(spec).includes('disks'));
}

async function runSpec(spec, machine) {
  const begin = performance.now();
  let outcome;
  try {
    outcome = await run(spec, machine);
  } catch (error) {
    const failure = { file: spec, title: 'the file could not be run', message: String(error) };
    outcome = { passed: 0, skipped: 0, failures: [failure] };
  }
  const isGreen = outcome.failures.length === 0;
  const durationMs = performance.now() - begin;
  const seconds = (durationMs / 1000).toFixed(1);
  console.log(`${isGreen ? 'PASS' : 'FAIL'} ${spec} (${outcome.passed} passed, ${seconds} s)`);
  for (const { title, message } of outcome.failures)
    console.log(`  ● ${title}\n${message.replace(/^/gm, '    ')}`);
  return { ...outcome, durationMs };
}

async function run(spec, machine) {
  const name = spec.replaceAll(path.sep, '+').replace(/\.ts$/, '');
  const files = Object.fromEntries(
    ['cjs', 'jsonl', 'log'].map((type) => [type, path.join(out, `${name}.${type}`)]),
  );
  await build({
    entryPoints: [path.join(root, spec)],
    outfile: files.cjs,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node26',
    sourcemap: 'inline',
    conditions: ['@wins/source'],
    // Only the built daemon loads this file, at run time.
    external: ['./wins-upgrade.cjs'],
    plugins: [koffiBesideBundle],
    logLevel: 'warning',
  });
  const reporter = new URL(
    `file:///${machine.see(path.join(import.meta.dirname, 'reporter.mjs')).replaceAll('\\', '/')}`,
  );
  const log = openSync(files.log, 'w');
  const child = spawn(
    machine.command[0],
    [
      ...machine.command.slice(1),
      '--enable-source-maps',
      `--test-reporter=${reporter.href}`,
      `--test-reporter-destination=${machine.see(files.jsonl)}`,
      machine.see(files.cjs),
    ],
    {
      env: {
        ...machine.env,
        WINS_ROOT: machine.see(root),
        ...(values.all && { WINS_TEST_ALL: '1' }),
        ...(WINS_TEST_SEED !== undefined && { WINS_TEST_SEED }),
      },
      stdio: ['ignore', log, log],
    },
  );
  const limitMs = values.all ? ALL_LIMIT_MS : LIMIT_MS;
  const limit = setTimeout(() => child.kill('SIGKILL'), limitMs);
  const [code, signal] = await once(child, 'exit');
  clearTimeout(limit);
  closeSync(log);
  const results = existsSync(files.jsonl)
    ? readFileSync(files.jsonl, 'utf8')
        .trim()
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line))
    : [];
  const failures = results
    .filter(({ error }) => error !== undefined)
    .map(({ title, error }) => ({ file: spec, title, message: error }));
  // The process may crash or hang after the last test, and a file without tests proves nothing.
  if (failures.length === 0 && (code !== 0 || results.length === 0)) {
    const title = `the file ended with ${code ?? signal} after ${results.length} tests`;
    const lines = readFileSync(files.log, 'utf8')
      .split(/\r?\n/)
      .filter((line) => line.trim() !== '');
    // Node prints the cause of a crash first; other programs print it last.
    const message = lines.length < 15 ? lines : [...lines.slice(0, 6), '…', ...lines.slice(-8)];
    failures.push({ file: spec, title, message: message.join('\n') });
  }
  return {
    passed: results.filter(({ error, skipped }) => error === undefined && !skipped).length,
    skipped: results.filter(({ skipped }) => skipped).length,
    failures,
  };
}
