const valuesOf = (values) =>
  'what' in values
    ? values.what
    : values.length > 8
      ? `${values.length} names`
      : values.map((value) => `\`${value}\``).join(', ');
const labelsOf = (labels) =>
  Object.entries(labels).map(([name, values]) => `\`${name}\`: ${valuesOf(values)}`);

/** Labels with the same values in at least this number of metrics are described once. */
const SHARED_BY = 3;

/** Returns the labels that several metrics share, then one item for each metric: its name, type, other labels with their values, and meaning. */
export function metricsList({ allMetrics, FEATURES }) {
  const metrics = Object.entries(allMetrics(FEATURES));
  const all = metrics.flatMap(([, { labels }]) => labelsOf(labels));
  const isShared = (label) => all.filter((one) => one === label).length >= SHARED_BY;
  const shared = [...new Set(all.filter(isShared))];
  const shown = (label) => (shared.includes(label) ? label.split(':')[0] : label);
  const items = metrics.map(([name, { type, help, labels }]) => {
    const facts = [type, ...labelsOf(labels).map(shown)].join('; ');
    return `- \`${name}\` (${facts}): ${help}`;
  });
  return `Labels of several metrics: ${shared.join('; ')}.\n\n${items.join('\n')}`;
}
