import assert from 'node:assert/strict';
import test from 'node:test';
import { unknownNames } from './known-names.mjs';

const metrics = {
  wins_runs: {
    type: 'gauge',
    labels: { state: ['running', 'ended'], entry: { what: 'name of an entry' } },
  },
  wins_call_seconds: { type: 'histogram', labels: {} },
};
const problemsOf = (expr) =>
  unknownNames(expr, metrics, new Map([['wins:runs:sum', 'sum by (state) (wins_runs)']]));

test('what is in the table is known, with its labels', () => {
  for (const expr of [
    'sum by (instance, state) (wins_runs{instance=~".*", state!="ended"})',
    'histogram_quantile(0.9, sum by (le) (rate(wins_call_seconds_bucket[5m])))',
    'max by (state) (wins:runs:sum) > 3',
    'wins_runs{entry="any name by (x)", state=~"run.*"}',
    'up{job="wins"} == 0',
  ])
    assert.deepEqual(problemsOf(expr), [], expr);
});

test('what is misspelt is named', () => {
  for (const [expr, problem] of [
    ['wins_run > 1', 'there is no metric wins_run'],
    ['wins_runs_bucket', 'there is no metric wins_runs_bucket'],
    ['process_handles', 'there is no metric process_handles'],
    ['wins_runs{status="running"}', 'wins_runs has no label status'],
    ['wins_runs{state="runing"}', 'wins_runs has no state runing'],
    ['max by (entry) (wins:runs:sum)', 'none of its metrics has a label entry'],
    ['sum by (reason) (wins_runs)', 'none of its metrics has a label reason'],
  ])
    assert.deepEqual(problemsOf(expr), [problem], expr);
});
