// npm run test:all [-- --release --minutes M --seed X --share N]
// Runs what `npm test` leaves out: the full and the long specs, the Windows suite, and the fuzzer for M minutes (default 10). Some tests run a
// command that changes a node in many steps, and kill the command at one step. The seed chooses which steps to try.
// --share N runs one Nth of the long spec files, chosen by the seed, as CI does. --release tries every step, and adds soak tests and transfers of
// gigabytes.
import { randomInt } from 'node:crypto';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { build, checks, endOf } from './suite/checks.mjs';
import { runLongSpecs, specsNamed } from './suite/jest-projects.mjs';
import { emptyResult, printReport } from './suite/report.mjs';
import { root, runShown } from './suite/run-shown.mjs';
import { runSuite } from './suite/run-suite.mjs';
import { needsOf, shareOf } from './suite/spec-files.mjs';
import { missingForWine } from './windows/wine-root.mjs';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    release: { type: 'boolean', default: false },
    seed: { type: 'string', default: String(randomInt(2 ** 32)) },
    share: { type: 'string', default: '1' },
  },
});
const share = Number(values.share);
if (!Number.isInteger(share) || share < 1 || (values.release && share > 1))
  throw new Error('--share wants an integer from 1, and 1 with --release');
// The specs, and the code that selects them, read these variables.
Object.assign(process.env, { WINS_TEST_SEED: values.seed });
if (values.release) Object.assign(process.env, { WINS_TEST_ALL: '1' });

await build();
const long = specsNamed('long', ...(values.release ? ['release'] : []));
const specs = [...specsNamed('full'), ...shareOf(long, share, values.seed)];
const isOfLibrary = (spec) => spec.startsWith(`libs${path.sep}`);
const needs = specs.flatMap((spec) => needsOf(path.join(root, spec)));
const prerequisites = [...new Set(['package', 'stand-ins', ...needs])];
const isRequired = process.env.WINS_REQUIRE_WINDOWS === '1';
const hasWindows = missingForWine === undefined || process.platform === 'win32' || isRequired;
if (!hasWindows) checks.notes.push(`THE WINDOWS SUITE WAS SKIPPED: it needs ${missingForWine}`);
console.log(
  `\n── full tests, and of the long ones ${values.release ? 'all' : `a sample: --seed ${values.seed} --share ${share}`}`,
);

// Making the prerequisites keeps one processor busy, so that tests which need none of them run beside. The Windows suite starts only later: it makes
// prerequisites, too, and both would write the same files.
const [prepared, ...early] = await Promise.all([
  runShown(['tools/prepare.mjs', ...prerequisites], { besideAs: 'prerequisites' }),
  runFuzzer(),
  runLongSpecs(specs.filter(isOfLibrary)),
]);
if (!prepared.isGreen) throw new Error(`the prerequisites of the tests: ${prepared.ending}`);
// Else each spec file checks them anew, which costs as much as some of its tests.
process.env.WINS_TEST_MADE = prerequisites.join(' ');

// Without --release, the Windows suite runs in parallel with the Jest specs, because both spend half of their time waiting. With --release, the
// Windows suite runs last, because the long loops of crash tests would slow each other down.
const onWindows = values.release ? undefined : runOnWindows(true);
const results = [
  ...[checks, ...early.flat()],
  ...(await runLongSpecs(specs.filter((spec) => !isOfLibrary(spec)))),
  await (onWindows ?? runOnWindows(false)),
];
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

/** @param {boolean} isBeside */
async function runOnWindows(isBeside) {
  const title = 'Windows suite';
  if (!hasWindows) return emptyResult(title);
  const args = ['tools/windows/run-specs.mjs', '--built', '--long', '--share', values.share];
  if (values.release) args.push('--all');
  return runSuite(title, args, 'wins-windows', { isBeside });
}
