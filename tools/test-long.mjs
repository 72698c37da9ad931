// npm run test:long [-- --all --minutes M --seed X]
// What takes long: deaths at a sample of all acts, which the seed chooses, and the fuzzer for M minutes (default 10). With --all, before a
// release: a death at every act, soaks, gigabytes.
import { randomInt } from 'node:crypto';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { prepare } from './prepare.mjs';
import { build, checks, endOf } from './suite/checks.mjs';
import { runLongSpecs } from './suite/jest-projects.mjs';
import { emptyResult, printReport } from './suite/report.mjs';
import { runShown } from './suite/run-shown.mjs';
import { runSuite } from './suite/run-suite.mjs';
import { missingForWine } from './windows/wine-root.mjs';

const { values } = parseArgs({
  options: {
    all: { type: 'boolean', default: false },
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: String(randomInt(2 ** 32)) },
  },
});
const chosen = values.all ? { WINS_TEST_ALL: '1' } : { WINS_TEST_SEED: values.seed };
// The specs read them, and so does what chooses specs.
Object.assign(process.env, chosen);

await build();
prepare('package');
prepare('stand-ins');
console.log(`\n── long tests, ${values.all ? 'all' : `a sample: --seed ${values.seed}`}`);
const results = [checks, ...(await runLongSpecs())];

const isRequired = process.env.WINS_REQUIRE_WINDOWS === '1';
if (missingForWine === undefined || process.platform === 'win32' || isRequired) {
  results.push(
    await runSuite(
      'Windows suite, long',
      ['tools/windows/run-specs.mjs', '--built', '--long', ...(values.all ? ['--all'] : [])],
      'wins-windows',
    ),
  );
} else {
  const skipped = emptyResult('Windows suite, long');
  skipped.notes.push(`THE LONG WINDOWS SUITE WAS SKIPPED: it needs ${missingForWine}`);
  results.push(skipped);
}

console.log('\n── fuzzer');
const file = path.join('tools', 'fuzz', 'fuzz-for.mjs');
const args = [file, '--minutes', values.minutes, '--seed', values.seed];
const { isGreen, ending, printed } = await runShown(args);
const fuzzer = emptyResult('fuzzer');
if (isGreen) fuzzer.passed = 1;
else fuzzer.failures.push({ file, title: ending, message: endOf(printed) });
results.push(fuzzer);

process.exitCode = printReport(results) ? 0 : 1;
