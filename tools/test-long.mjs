// npm run test:long [-- --minutes M --seed X]
// What takes long: soaks, gigabytes, a death at every act, and the fuzzer for M minutes (default 10).
import path from 'node:path';
import { parseArgs } from 'node:util';
import { buildAll, prepare } from './prepare.mjs';
import { runLongSpecs } from './suite/jest-projects.mjs';
import { emptyResult, printReport } from './suite/report.mjs';
import { runShown } from './suite/run-shown.mjs';
import { runSuite } from './suite/run-suite.mjs';
import { wine } from './windows/wine.mjs';

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '10' }, seed: { type: 'string' } },
});

buildAll();
prepare('package');
console.log('\n── long tests');
const results = await runLongSpecs();

const isRequired = process.env.WINS_REQUIRE_WINDOWS === '1';
if (wine !== undefined || process.platform === 'win32' || isRequired) {
  results.push(
    await runSuite(
      'Windows suite, long',
      ['tools/windows/run-specs.mjs', '--long'],
      'wins-windows',
    ),
  );
} else {
  const skipped = emptyResult('Windows suite, long');
  skipped.notes.push('THE LONG WINDOWS SUITE WAS SKIPPED: it needs Wine');
  results.push(skipped);
}

console.log('\n── fuzzer');
const seed = values.seed === undefined ? [] : ['--seed', values.seed];
const file = path.join('tools', 'fuzz', 'fuzz-for.mjs');
const { isGreen, ending, printed } = await runShown([file, '--minutes', values.minutes, ...seed]);
const fuzzer = emptyResult('fuzzer');
if (isGreen) fuzzer.passed = 1;
else
  fuzzer.failures.push({ file, title: ending, message: printed.split('\n').slice(-14).join('\n') });
results.push(fuzzer);

process.exitCode = printReport(results) ? 0 : 1;
