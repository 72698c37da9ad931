import { unixDate } from '../apply/unix-date.js';
import { secretState } from './secret-state.js';
import { stateBetweenPasses } from './decide-pass.js';

const NOW = new Date('2026-11-22T12:00:00Z');
const THIS = 'a'.repeat(64);
const OTHER = 'b'.repeat(64);
const FAILED = { 'failed-checksum': THIS, 'failure-count': '2' };

function stateOf(texts: Readonly<Record<string, string>>) {
  const data = Object.entries(texts).map(([key, text]) => [key, Buffer.from(text)] as const);
  const state = secretState(Object.fromEntries(data));
  return stateBetweenPasses(state, THIS, { firstPass: false }, NOW);
}

describe('between two passes', () => {
  it.each<[string, Readonly<Record<string, string>>, object]>([
    ['a plan that was applied', { 'applied-checksum': THIS }, { kind: 'applied' }],
    ['another plan that was applied', { 'applied-checksum': OTHER }, { kind: 'waiting' }],
    [
      'a plan that failed just now',
      { ...FAILED, 'last-apply-time': unixDate(NOW) },
      { kind: 'failed', failures: 2, retryAt: new Date(NOW.getTime() + 30_000) },
    ],
    ['a plan that failed long ago', FAILED, { kind: 'failed', failures: 2, retryAt: NOW }],
    [
      'a plan that failed as often as it may',
      { ...FAILED, 'max-failures': '2' },
      { kind: 'failed', failures: 2 },
    ],
    ['pending', { 'plan-state': 'pending', ...FAILED }, { kind: 'waiting', planState: 'pending' }],
    ['in-progress', { 'plan-state': 'in-progress' }, { kind: 'waiting', planState: 'in-progress' }],
    ['succeeded', { 'plan-state': 'succeeded', 'applied-checksum': THIS }, { kind: 'applied' }],
    [
      'succeeded, of another plan',
      { 'plan-state': 'succeeded', 'applied-checksum': OTHER },
      { kind: 'waiting', planState: 'succeeded' },
    ],
    ['failed', { 'plan-state': 'failed', ...FAILED }, { kind: 'failed', failures: 2 }],
    [
      'failed, as the original leaves it',
      { 'plan-state': 'failed', 'applied-checksum': THIS, 'failure-count': '0' },
      { kind: 'failed', failures: 0 },
    ],
    [
      'failed, of another plan',
      { 'plan-state': 'failed', 'failed-checksum': OTHER },
      { kind: 'waiting', planState: 'failed' },
    ],
    ['cancelled, after a failure', { 'plan-state': 'cancelled', ...FAILED }, { kind: 'cancelled' }],
    ['canceled', { 'plan-state': 'canceled', 'applied-checksum': THIS }, { kind: 'cancelled' }],
    ['paused', { 'plan-state': 'paused' }, { kind: 'paused' }],
    ['toString', { 'plan-state': 'toString' }, { kind: 'waiting', planState: 'toString' }],
    ['Pending', { 'plan-state': 'Pending' }, { kind: 'waiting', planState: 'Pending' }],
    ['an empty value', { 'plan-state': '' }, { kind: 'waiting', planState: '' }],
    ['a line end', { 'plan-state': 'pending\n' }, { kind: 'waiting', planState: 'pending\n' }],
  ])('%s is told as it is', (_title, texts, state) => {
    expect(stateOf(texts)).toMatchObject({ checksum: THIS, ...state });
  });

  it('no megabyte is told of a value', () => {
    const state = stateOf({ 'plan-state': 'x'.repeat(1_000_000) });
    expect(JSON.stringify(state).length).toBeLessThan(400);
  });
});
