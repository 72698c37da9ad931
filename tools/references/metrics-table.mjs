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

/** The table of docs/observability.md, from the daemon's table of metrics. */
export function metricsTable({ BUCKETS_SECONDS, METRICS, mostSeriesOf }) {
  const rows = Object.entries(METRICS).map(([name, metric]) => {
    const { type, help, labels } = metric;
    // A histogram has its buckets, that without an end, a sum and a count.
    const each = type === 'histogram' ? BUCKETS_SECONDS.length + 3 : 1;
    const series = each * (Object.keys(labels).length === 0 ? 1 : mostSeriesOf(metric));
    return `| \`${name}\` | ${type} | ${labelsOf(labels)} | ${series} | ${help} |`;
  });
  return ['| metric | type | labels | series | meaning |', '|-|-|-|-|-|', ...rows].join('\n');
}
