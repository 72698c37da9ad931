import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';
import { readOptions, UsageError } from './bench-options.mjs';
import { countedCommand } from './costs.mjs';
import { reportOf } from './report.mjs';
import { compareRuns, costOf, figureOf, isMet, median, summary, winsOf } from './summary.mjs';

const rounds = (values, costs = {}) => values.map((value) => ({ value, ...costs }));
function rowOf(wins, more = {}) {
  const floor = { name: 'bare', rounds: rounds(wins.map(() => 100)) };
  return {
    name: 'speed',
    unit: 'MB/s',
    per: 'GB',
    figure: { is: 'ratio', atLeast: 0.4 },
    ...more,
    ways: [floor, { name: 'wins', rounds: rounds(wins, more.costs) }],
  };
}
const runOf = (...rows) => ({
  node: '20.0.0',
  processors: 2,
  quick: false,
  loadBefore: 0,
  loadAfter: 1,
  rows,
});

describe('the rounds of a row', () => {
  it('come to their median and their range', () => {
    assert.equal(median([5, 1, 4]), 4);
    assert.equal(median([4, 1, 2, 3]), 2.5);
    assert.deepEqual(summary([3, 1, 2]), { median: 2, min: 1, max: 3, rounds: 3 });
  });

  it('come to nothing where one of them was not measured, or was written as null', () => {
    for (const missing of [undefined, null, NaN]) assert.equal(summary([1, missing, 3]), undefined);
    assert.equal(costOf(winsOf(rowOf([1])), 'client', 'cpuMs'), undefined);
  });

  it('are divided by the floor of the same round', () => {
    const row = rowOf([50, 40, 60]);
    row.ways[0].rounds[2].value = 60;
    assert.deepEqual(figureOf(row), { median: 0.5, min: 0.4, max: 1, rounds: 3 });
  });

  it('are judged by the median of the figure', () => {
    assert.equal(isMet(rowOf([50, 10, 60])), true);
    assert.equal(isMet(rowOf([50, 10, 10])), false);
    assert.equal(isMet(rowOf([120], { figure: { is: 'growth', atMost: 25 } })), true);
    assert.equal(isMet(rowOf([126], { figure: { is: 'growth', atMost: 25 } })), false);
    assert.equal(isMet(rowOf([50], { figure: { is: 'ratio' } })), undefined);
  });
});

it('shows what short commands load', () => {
  const loaded = [
    { words: 'help', bundles: ['wins.cjs', 'wins-help.cjs'], bytes: 230_000, modules: ['assert'] },
  ];
  assert.match(
    reportOf({ ...runOf(rowOf([1])), loaded }),
    /^help +wins\.cjs wins-help\.cjs +230 kB +assert$/m,
  );
});

describe('two runs', () => {
  const verdictOf = (before, after, more) =>
    compareRuns(runOf(rowOf(before, more)), runOf(rowOf(after, more)))[0].verdict;

  it('differ where their rounds do not overlap', () => {
    assert.equal(verdictOf([50, 51, 52], [53, 54, 55]), 'better');
    assert.equal(verdictOf([53, 54, 55], [50, 51, 52]), 'worse');
    assert.equal(verdictOf([50, 51, 53], [53, 54, 55]), 'same');
    assert.equal(verdictOf([50, 51, 52], [53, 54, 55], { unit: 'ms' }), 'worse');
  });

  it('do not differ by less than 2 %, however small the spread', () => {
    assert.equal(verdictOf([100, 100], [101.9, 101.9]), 'same');
    assert.equal(verdictOf([100, 100], [102, 102]), 'better');
  });

  it('do not differ by a single round', () => {
    assert.equal(verdictOf([50], [60, 61, 62]), 'unknown');
  });

  it('have no change where both found none', () => {
    const row = rowOf([0], { figure: { is: 'value' } });
    assert.equal(compareRuns(runOf(row), runOf(row))[0].change, 0);
  });

  it('are compared by every number that both have, with its change', () => {
    const before = rowOf([50, 50], { costs: { client: { cpuMs: 100, systemCalls: null } } });
    const after = rowOf([40, 40], { costs: { client: { cpuMs: 110 }, daemon: { cpuMs: 1 } } });
    const compared = compareRuns(runOf(before), runOf(after, rowOf([1], { name: 'new' })));
    assert.deepEqual(
      compared.map(({ number, change }) => [number, change]),
      [
        ['value', -0.2],
        ['ratio', (0.4 - 0.5) / 0.5],
        ['client cpuMs', 0.1],
      ],
    );
  });

  it('are compared by processor time as a part of that of the floor', () => {
    const row = rowOf([50, 50], { costs: { client: { cpuMs: 60 }, daemon: { cpuMs: 90 } } });
    for (const round of row.ways[0].rounds) round.client = { cpuMs: 100 };
    const found = compareRuns(runOf(row), runOf(row)).find(({ number }) => number === 'cpuRatio');
    assert.equal(found?.after, 1.5);
  });
});

describe('the report', () => {
  it('shows figures, costs and, beside another run, what has changed', () => {
    const costs = { client: { cpuMs: 0.25, heapBytes: 1500, systemCalls: 7 } };
    const text = reportOf(runOf(rowOf([50, 52, 51], { costs })), runOf(rowOf([40, 41, 42])));
    assert.match(text, /load 0\.0 before and 1\.0 after/);
    assert.match(
      text,
      /bare: 100 MB\/s +51\.0 MB\/s +0\.51 +0\.50 \.\. 0\.52 +at least 0\.40 +met/,
    );
    assert.match(text, /wins +51\.0 MB\/s .* 250 µs +– +1\.50 kB +– +7\.00 +–/);
    assert.match(text, /speed +value +41\.0 MB\/s +51\.0 MB\/s +\+24\.4 % +yes, better/);
  });

  it('has no costs where nothing that costs was measured', () => {
    assert.doesNotMatch(reportOf(runOf(rowOf([1], { per: undefined }))), /CPU/);
  });
});

describe('the command line', () => {
  const names = ['tunnel, connections', 'Info, median'];
  const wantedBy = (...args) => {
    const { wants } = readOptions(args, names);
    assert.ok(wants);
    return names.filter(wants);
  };
  const refusal = (args, expected) =>
    assert.throws(
      () => readOptions(args, names),
      (error) => error instanceof UsageError && expected.test(error.message),
    );

  it('wants all rows, or those that a pattern finds', () => {
    assert.deepEqual(wantedBy(), names);
    assert.deepEqual(wantedBy('--only', 'info'), [names[1]]);
  });

  it('refuses what it does not know, and a pattern that finds nothing', () => {
    refusal(['--fast'], /--fast/);
    refusal(['row'], /row/);
    refusal(['--only', '('], /not a regular expression/);
    refusal(['--only', 'disk'], /matches none of these rows:\n {2}tunnel, connections/);
  });

  it('measures in five rounds, or in as many as are asked for', () => {
    assert.equal(readOptions([], names).rounds, 5);
    assert.equal(readOptions(['--rounds', '17'], names).rounds, 17);
    for (const rounds of ['0', '1.5', 'many']) refusal(['--rounds', rounds], /--rounds/);
  });

  it('refuses a file that is no run, and a run that was measured otherwise', () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'wins-bench-'));
    const file = path.join(folder, 'run.json');
    try {
      refusal(['--against', file], /cannot read --against .*ENOENT/);
      writeFileSync(file, '{"rows":[1]}');
      refusal(['--against', file], /is not output of --json/);
      writeFileSync(file, JSON.stringify(runOf(rowOf([1]))));
      refusal(['--against', file, '--quick'], /was measured without --quick/);
      assert.equal(readOptions(['--against', file], names).before.rows.length, 1);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('what a program puts on its heap', () => {
  const bytesOf = (script) => {
    const { command, environment, counts } = countedCommand(process.execPath, ['-e', script], true);
    const [file, ...args] = command;
    const { status } = spawnSync(file, args, { env: { ...process.env, ...environment } });
    assert.equal(status, 0);
    return Number(counts().heapBytes);
  };

  it('is counted whether it lives or not', () => {
    // Allocates a million arrays of twelve 8-byte words and a header. The heap never holds all of them.
    const script = 'let last; for (let i = 0; i < 1e6; i += 1) last = new Array(12).fill(i)';
    const bytes = bytesOf(script) - bytesOf('0');
    assert.ok(bytes > 96e6 && bytes < 150e6, `found ${bytes} bytes`);
  });
});
