// Summarises benchmark results. Each row of the results was measured in one or more rounds, which are reduced to median, minimum and maximum.
// Also compares two benchmark runs.

/** Relative changes below this are ignored, because work that the programs did before the measurement may cause them. */
const SMALLEST_CHANGE = 0.02;
const MORE_IS_BETTER = new Set(['MB/s', 'per s']);

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

export function summary(values) {
  return values.every((value) => typeof value === 'number' && Number.isFinite(value))
    ? summaryOf(values)
    : undefined;
}

function summaryOf(values) {
  return {
    median: median(values),
    min: Math.min(...values),
    max: Math.max(...values),
    rounds: values.length,
  };
}

export const floorOf = (row) => row.ways[0];
export const winsOf = (row) => row.ways.at(-1);

const figures = {
  ratio: (wins, floor) => wins / floor,
  growth: (wins, floor) => wins - floor,
  value: (wins) => wins,
};

export const valuesOf = (way) => summaryOf(way.rounds.map(({ value }) => value));

export function figureOf(row) {
  const floor = floorOf(row).rounds;
  const of = figures[row.figure.is];
  return summaryOf(winsOf(row).rounds.map(({ value }, index) => of(value, floor[index].value)));
}

export function isMet(row) {
  const { atLeast, atMost } = row.figure;
  const figure = figureOf(row).median;
  if (atLeast !== undefined) return figure >= atLeast;
  return atMost === undefined ? undefined : figure <= atMost;
}

export const COSTS = ['cpuMs', 'heapBytes', 'systemCalls'];
export const ROLES = ['client', 'daemon'];

export function costOf(way, role, cost) {
  return summary(way.rounds.map((round) => round[role]?.[cost]));
}

function processorTimes({ rounds }) {
  return rounds.map((round) => {
    const times = ROLES.map((role) => round[role]?.cpuMs).filter((ms) => ms !== undefined);
    return times.length === 0 ? undefined : times.reduce((sum, ms) => sum + ms);
  });
}

/** Returns the numbers of a row that describe `wins`, as a map from name to summary. `compareRuns` compares them between two runs. */
function numbersOf(row) {
  const { is } = row.figure;
  const moreIsBetter = MORE_IS_BETTER.has(row.unit);
  const floor = processorTimes(floorOf(row));
  const numbers = [
    ['value', valuesOf(winsOf(row)), moreIsBetter],
    [is, figureOf(row), moreIsBetter],
    // The processor time of wins, divided by that of the floor (a plainer program). Other load on the machine affects both, and cancels out in
    // the ratio.
    ['cpuRatio', summary(processorTimes(winsOf(row)).map((ms, index) => ms / floor[index])), false],
    ...ROLES.flatMap((role) =>
      COSTS.map((cost) => [`${role} ${cost}`, costOf(winsOf(row), role, cost), false]),
    ),
  ];
  return new Map(
    numbers
      .filter(([, found]) => found !== undefined)
      .map(([name, found, isBetter]) => [name, { ...found, moreIsBetter: isBetter }]),
  );
}

/**
 * Compares the rows that two runs share.
 *
 * @returns One item for each number of each row: the medians `before` and `after`, the relative `change`, and a `verdict`. The verdict is `same` if
 * the rounds of both runs overlap or the change is below 2 %, and otherwise `better` or `worse`. It is `unknown` if a run has only one round.
 */
export function compareRuns(before, after) {
  const earlier = new Map(before.rows.map((row) => [row.name, numbersOf(row)]));
  const compared = [];
  for (const row of after.rows) {
    for (const [number, is] of numbersOf(row)) {
      const was = earlier.get(row.name)?.get(number);
      if (was === undefined) continue;
      const change = is.median === was.median ? 0 : (is.median - was.median) / was.median;
      const verdict = verdictOf(was, is, change);
      compared.push({ row, number, before: was.median, after: is.median, change, verdict });
    }
  }
  return compared;
}

function verdictOf(was, is, change) {
  if (was.rounds < 2 || is.rounds < 2) return 'unknown';
  if (Math.abs(change) < SMALLEST_CHANGE) return 'same';
  if (is.min <= was.max && was.min <= is.max) return 'same';
  return is.min > was.max === is.moreIsBetter ? 'better' : 'worse';
}
