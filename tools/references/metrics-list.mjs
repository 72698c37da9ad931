const valuesOf = (values) =>
  'what' in values
    ? values.what
    : values.length > 8
      ? `${values.length} names`
      : values.map((value) => `\`${value}\``).join(', ');
const labelsOf = (labels) =>
  Object.entries(labels).map(([name, values]) => `\`${name}\`: ${valuesOf(values)}`);

/** Returns one item for each metric: its name, type, labels with their values, and meaning. */
export function metricsList({ allMetrics, FEATURES }) {
  return Object.entries(allMetrics(FEATURES))
    .map(([name, { type, help, labels }]) => {
      const facts = [type, ...labelsOf(labels)].join('; ');
      return `- \`${name}\` (${facts}): ${help}`;
    })
    .join('\n');
}
