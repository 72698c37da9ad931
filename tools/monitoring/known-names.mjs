// Checks names in expressions, because Prometheus silently finds nothing for a misspelt name.
const SERIES_SUFFIX = /_(bucket|sum|count)$/;
const OF_SCRAPES = new Set(['instance', 'job']);
const TEXT = /"(?:[^"\\]|\\.)*"/g;

/**
 * @param metrics - The daemon's table: the `type` and `labels` of each metric. `labels` maps a label to the list of its values. A label that
 * may have any value maps to an object.
 * @param records - Maps the name of each recorded series to its expression, which names the labels of the series.
 */
export function unknownNames(expr, metrics, records) {
  const problems = [];
  const labels = new Set(OF_SCRAPES);
  for (const [, name, matchers = ''] of expr.matchAll(
    /\b((?:wins|process)[_:][a-z0-9_:]+)(\{[^}]*\})?/g,
  )) {
    const recorded = records.get(name);
    if (recorded !== undefined) {
      for (const label of namedLabels(recorded)) labels.add(label);
      continue;
    }
    const definition = definitionOf(name, metrics);
    if (definition === undefined) {
      problems.push(`there is no metric ${name}`);
      continue;
    }
    for (const label of Object.keys(definition.labels)) labels.add(label);
    if (definition.type === 'histogram') labels.add('le');
    problems.push(...unknownMatchers(name, matchers, definition));
  }
  for (const label of namedLabels(expr))
    if (!labels.has(label)) problems.push(`none of its metrics has a label ${label}`);
  return problems;
}

function namedLabels(expr) {
  const lists = expr.replace(TEXT, '""').matchAll(/\b(?:by|on|ignoring|without) *\(([^)]*)\)/g);
  return [...lists].flatMap(([, list]) => list.split(',').map((each) => each.trim()));
}

function definitionOf(name, metrics) {
  if (metrics[name] !== undefined) return metrics[name];
  const base = metrics[name.replace(SERIES_SUFFIX, '')];
  return base?.type === 'histogram' ? base : undefined;
}

function unknownMatchers(name, matchers, { labels }) {
  return [...matchers.matchAll(/([a-z_]+)(=~|!~|!=|=)"((?:[^"\\]|\\.)*)"/g)].flatMap(
    ([, label, comparison, value]) => {
      if (OF_SCRAPES.has(label)) return [];
      const values = labels[label];
      if (values === undefined) return [`${name} has no label ${label}`];
      const isPattern = comparison.endsWith('~') || !Array.isArray(values);
      return isPattern || values.includes(value) ? [] : [`${name} has no ${label} ${value}`];
    },
  );
}
