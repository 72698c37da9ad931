const valuesOf = (values) =>
  'what' in values
    ? values.what
    : values.length > 8
      ? `${values.length} names`
      : values.map((value) => `\`${value}\``).join(', ');
const labelsOf = (labels) =>
  Object.entries(labels)
    .map(([name, values]) => `\`${name}\`: ${valuesOf(values)}`)
    .join('<br>');

export function metricsTable({ allMetrics, FEATURES }) {
  const rows = Object.entries(allMetrics(FEATURES)).map(([name, metric]) => {
    const { type, help, labels } = metric;
    return `| \`${name}\` | ${type} | ${labelsOf(labels)} | ${help} |`;
  });
  return ['| metric | type | labels | meaning |', '|-|-|-|-|', ...rows].join('\n');
}
