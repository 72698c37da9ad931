// Checks the chart: renders it with values of every kind and judges what comes out.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { run } from 'node:test';
import { cacheFolder, missing } from './engine.mjs';

const summaryFile = path.join(cacheFolder, 'summary.json');

mkdirSync(cacheFolder, { recursive: true });
rmSync(summaryFile, { force: true });
let passed = 0;
let failed = 0;
if (missing !== undefined) {
  console.error(`the chart cannot be rendered without ${missing}`);
  failed = 1;
} else {
  const files = [path.join(import.meta.dirname, 'chart.test.mjs')];
  for await (const { type, data } of run({ files, concurrency: 1 })) {
    // A group of tests is no test.
    if (data?.details?.type === 'suite') continue;
    if (type === 'test:pass') passed += 1;
    if (type !== 'test:fail') continue;
    failed += 1;
    const { cause, message } = data.details.error;
    console.error(`● ${data.name}\n${(cause?.message ?? message).replace(/^/gm, '    ')}`);
  }
}
console.log(`the chart: ${passed} passed, ${failed} failed`);
writeFileSync(summaryFile, JSON.stringify({ passed, failed }));
process.exit(failed === 0 && passed > 0 ? 0 : 1);
