import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { describe, it } from 'node:test';
import { TimeBudget } from './time-budget.mjs';

describe('a budget of time', () => {
  it('is spent by tasks that have ended, and by those that still run', async () => {
    let now = 100;
    const budget = new TimeBudget(10, () => now);
    await budget.spend(async () => {
      now += 4;
    });
    const ends = new EventEmitter();
    const tasks = ['first', 'second'].map((name) => budget.spend(() => once(ends, name)));
    now += 2;
    assert.equal(budget.isSpent, false);
    ends.emit('first');
    await tasks[0];
    now += 1;
    assert.equal(budget.isSpent, false);
    now += 1;
    assert.equal(budget.isSpent, true);
    ends.emit('second');
    await tasks[1];
    now += 100;
    assert.equal(budget.isSpent, true);
  });

  it('is not spent by time without a task, and is spent by a task that fails', async () => {
    let now = 0;
    const budget = new TimeBudget(10, () => now);
    now += 100;
    assert.equal(budget.isSpent, false);
    const failing = budget.spend(async () => {
      now += 10;
      throw new Error('fails');
    });
    await assert.rejects(failing, /fails/);
    assert.equal(budget.isSpent, true);
  });

  it('wants minutes', () => {
    for (const ms of [0, -1, Number.NaN])
      assert.throws(() => new TimeBudget(ms), /a number of minutes above 0/);
  });

  it('may have no end', () => {
    assert.equal(new TimeBudget(Infinity).isSpent, false);
  });
});
