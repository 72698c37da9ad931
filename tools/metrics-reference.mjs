// node tools/metrics-reference.mjs [--check]
// Writes the table of docs/observability.md, between its two marks, from the daemon's table of metrics. With --check it writes
// nothing, and fails when the page differs.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { format, resolveConfig } from 'prettier';
import { loadMetricTable } from './metric-table.mjs';

const root = path.resolve(import.meta.dirname, '..');
const page = path.join(root, 'docs/observability.md');
const { BUCKETS_SECONDS, METRICS, mostSeriesOf } = await loadMetricTable();

const valuesOf = (values) =>
  typeof values === 'number'
    ? `${values} at most`
    : values.length > 8
      ? `${values.length} names`
      : values.map((value) => `\`${value}\``).join(', ');
const labelsOf = (labels) =>
  Object.entries(labels)
    .map(([name, values]) => `\`${name}\`: ${valuesOf(values)}`)
    .join('<br>');
const rows = Object.entries(METRICS).map(([name, metric]) => {
  const { type, help, labels } = metric;
  // A histogram has its buckets, that without an end, a sum and a count.
  const each = type === 'histogram' ? BUCKETS_SECONDS.length + 3 : 1;
  const series = each * (Object.keys(labels).length === 0 ? 1 : mostSeriesOf(metric));
  return `| \`${name}\` | ${type} | ${labelsOf(labels)} | ${series} | ${help} |`;
});
const table = ['| metric | type | labels | series | meaning |', '|-|-|-|-|-|', ...rows];

const [begin, end] = ['<!-- written by tools/metrics-reference.mjs -->', '<!-- end of metrics -->'];
const before = readFileSync(page, 'utf8');
const [head, tail] = [before.split(begin)[0], before.split(end)[1]];
if (tail === undefined) throw new Error(`cannot write docs/observability.md: found no "${end}"`);
const options = { ...(await resolveConfig(page)), filepath: page };
const after = await format(`${head}${begin}\n\n${table.join('\n')}\n\n${end}${tail}`, options);

if (process.argv[2] !== '--check') writeFileSync(page, after);
else if (after !== before) {
  console.error(
    'docs/observability.md is not what the table of metrics says: node tools/metrics-reference.mjs',
  );
  process.exitCode = 1;
}
