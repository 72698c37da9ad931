// Formats the results of a benchmark as up to four tables: the figures and their targets, the costs, what short commands load, and the changes since
// an earlier benchmark.
import {
  compareRuns,
  COSTS,
  costOf,
  figureOf,
  floorOf,
  isMet,
  ROLES,
  valuesOf,
  winsOf,
} from './summary.mjs';

const NONE = '–';
const TIMES = { ms: 1 };

export function reportOf(run, before) {
  const { node, processors, loadBefore, loadAfter, quick } = run;
  const load = `load ${loadBefore.toFixed(1)} before and ${loadAfter.toFixed(1)} after`;
  const head = `Node ${node}, ${processors} processors, ${load}${quick ? ', --quick' : ''}`;
  const parts = [head, figuresTable(run.rows), costsTable(run.rows), loadedTable(run.loaded)];
  if (before) parts.push(comparisonTable(before, run));
  return `${parts.filter((part) => part !== undefined).join('\n\n')}\n`;
}

function figuresTable(rows) {
  const lines = rows.map((row) => {
    const { is, unit = row.unit } = row.figure;
    const show = (number) =>
      is === 'ratio'
        ? number.toFixed(2)
        : `${is === 'growth' && number >= 0 ? '+' : ''}${amount(number, unit)}`;
    const met = isMet(row);
    return [
      row.name,
      floorText(row),
      amount(valuesOf(winsOf(row)).median, row.unit),
      show(figureOf(row).median),
      range(figureOf(row), show),
      target(row.figure, show),
      met === undefined ? NONE : met ? 'met' : 'MISSED',
    ];
  });
  return table(['what', 'floor', 'wins', 'figure', 'min..max', 'target', 'verdict'], lines);
}

function floorText(row) {
  if (row.ways.length === 1) return NONE;
  const floor = floorOf(row);
  return `${floor.name}: ${amount(valuesOf(floor).median, row.unit)}`;
}

function target({ atLeast, atMost }, show) {
  if (atLeast !== undefined) return `at least ${show(atLeast)}`;
  return atMost === undefined ? 'none' : `at most ${show(atMost)}`;
}

/** Undefined if no costs were measured. */
function costsTable(rows) {
  const lines = [];
  for (const row of rows) {
    if (row.per === undefined) continue;
    for (const [index, way] of row.ways.entries()) {
      const costs = COSTS.flatMap((cost) =>
        ROLES.map((role) => {
          const found = costOf(way, role, cost);
          return found ? amountOfCost(cost, found.median) : NONE;
        }),
      );
      const values = valuesOf(way);
      const show = (number) => amount(number, row.unit);
      lines.push([
        index === 0 ? `${row.name}, per ${row.per}` : '',
        way.name,
        show(values.median),
        range(values, show),
        ...costs,
      ]);
    }
  }
  if (lines.length === 0) return undefined;
  const titles = ['CPU', 'heap', 'calls'].flatMap((title) =>
    ROLES.map((role) => `${title}, ${role}`),
  );
  return table(['what', 'way', 'median', 'min..max', ...titles], lines);
}

/** Undefined if no start was measured. */
function loadedTable(loaded = []) {
  if (loaded.length === 0) return undefined;
  const lines = loaded.map(({ words, bundles, bytes, modules }) => [
    words,
    bundles.join(' '),
    `${scaled(bytes)}B`,
    modules.join(' '),
  ]);
  return table(
    ['what', 'bundles', 'size', "modules of Node's, besides those of an empty program"],
    lines,
  );
}

function comparisonTable(before, run) {
  const words = {
    better: 'yes, better',
    worse: 'yes, WORSE',
    same: 'no',
    unknown: 'not known: one round',
  };
  let last;
  const lines = compareRuns(before, run).map((compared) => {
    const { row, number, change, verdict } = compared;
    const { name, show } = shownNumber(row, number);
    const title = row === last ? '' : row.name;
    last = row;
    const percent = `${change > 0 ? '+' : ''}${(change * 100).toFixed(1)} %`;
    return [title, name, show(compared.before), show(compared.after), percent, words[verdict]];
  });
  return table(['what', 'number', 'before', 'after', 'change', 'beyond the spread'], lines);
}

function shownNumber({ unit, per }, number) {
  const asRatio = (value) => value.toFixed(2);
  if (number === 'ratio') return { name: 'ratio to the floor', show: asRatio };
  if (number === 'cpuRatio') return { name: 'CPU, ratio to the floor', show: asRatio };
  const [role, cost] = number.split(' ');
  if (cost === undefined) return { name: number, show: (value) => amount(value, unit) };
  const show = (value) => amountOfCost(cost, value);
  return { name: `${role}, ${COST_NAMES[cost]} per ${per}`, show };
}

const COST_NAMES = { cpuMs: 'CPU', heapBytes: 'heap', systemCalls: 'calls' };

function range({ min, max, rounds }, show) {
  return rounds === 1 ? NONE : `${show(min)} .. ${show(max)}`;
}

function amountOfCost(cost, number) {
  if (cost === 'cpuMs') return amount(number, 'ms');
  return cost === 'heapBytes' ? `${scaled(number)}B` : scaled(number);
}

function amount(number, unit) {
  if (unit in TIMES && Math.abs(number) < 1) return `${digits(number * 1000)} µs`;
  return `${digits(number)} ${unit}`;
}

function scaled(number) {
  const power = Math.abs(number) < 1 ? 0 : Math.floor(Math.log10(Math.abs(number)) / 3);
  const step = Math.min(power, 3);
  return `${digits(number / 1000 ** step)} ${['', 'k', 'M', 'G'][step]}`;
}

/** Three digits, or more if the integer part is longer. */
function digits(number) {
  const size = Math.abs(number);
  return number.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2);
}

function table(titles, lines) {
  const all = [titles, ...lines];
  const widths = titles.map((_, column) => Math.max(...all.map((line) => line[column].length)));
  return all
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column]))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
