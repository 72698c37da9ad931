// Tests the chart with many kinds of values.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { run } from 'node:test';
import { cacheFolder, missing } from './engine.mjs';

const summaryFile = path.join(cacheFolder, 'summary.json');
const file = 'tools/chart/chart.test.mjs';

mkdirSync(cacheFolder, { recursive: true });
rmSync(summaryFile, { force: true });
let passed = 0;
const failures = [];
if (missing !== undefined) {
  failures.push({ file, title: 'the chart can be rendered', message: `it needs ${missing}` });
} else {
  const files = [path.join(import.meta.dirname, 'chart.test.mjs')];
  for await (const { type, data } of run({ files, concurrency: 1 })) {
    if (data?.details?.type === 'suite') continue;
    if (type === 'test:pass') passed += 1;
    if (type !== 'test:fail') continue;
    const { cause, message } = data.details.error;
    failures.push({ file, title: data.name, message: cause?.message ?? message });
  }
}
for (const { title, message } of failures)
  console.error(`● ${title}\n${message.replace(/^/gm, '    ')}`);
console.log(`the chart: ${passed} passed, ${failures.length} failed`);
writeFileSync(summaryFile, JSON.stringify({ passed, failures }));
process.exit(failures.length === 0 && passed > 0 ? 0 : 1);
