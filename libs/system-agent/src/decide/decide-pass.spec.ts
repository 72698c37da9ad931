import * as fc from 'fast-check';

import { unixDate } from '../apply/unix-date.js';
import { type AgentMemory, decidePass, type Decision } from './decide-pass.js';
import { secretChanges } from './secret-changes.js';
import { KEY, type SecretData, secretState } from './secret-state.js';

const NOW = new Date('2026-11-22T12:00:00Z');
const THIS = 'a'.repeat(64);
const OTHER = 'b'.repeat(64);
const STARTED: AgentMemory = { firstPass: true };
const RUNNING: AgentMemory = { firstPass: false };

const ago = (seconds: number): string => unixDate(new Date(NOW.getTime() - seconds * 1000));
const buffers = (texts: Record<string, string>): SecretData =>
  Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, Buffer.from(text)]));
const shown = (decision: Decision): string => {
  if (decision.kind === 'apply') return `apply ${decision.attempt}, ${decision.reason}`;
  return `${decision.kind}, ${decision.reason}`;
};

const failed = (count: string, seconds: number, more = {}): Record<string, string> => ({
  'failed-checksum': THIS,
  'failure-count': count,
  'last-apply-time': ago(seconds),
  ...more,
});

describe('decidePass', () => {
  it.each<[string, AgentMemory, Record<string, string>, string]>([
    ['a new Secret', STARTED, {}, 'apply 1, firstPass'],
    ['a plan that appeared', RUNNING, {}, 'apply 1, changed'],
    ['an applied plan', RUNNING, { 'applied-checksum': THIS }, 'watchOver, applied'],
    ['an applied plan after a start', STARTED, { 'applied-checksum': THIS }, 'apply 1, firstPass'],
    ['a changed plan', RUNNING, { 'applied-checksum': OTHER }, 'apply 1, changed'],
    [
      'a changed plan after failures of another',
      RUNNING,
      { ...failed('3', 1), 'failed-checksum': OTHER },
      'apply 4, changed',
    ],
    ['a failed plan, 30 s ago', RUNNING, failed('2', 30), 'watchOver, coolingDown'],
    ['a failed plan, 31 s ago', RUNNING, failed('2', 31), 'apply 3, retry'],
    ['a failed plan, 30 s ago, after a start', STARTED, failed('2', 30), 'watchOver, coolingDown'],
    ['a failed plan whose time is in the future', RUNNING, failed('2', -3600), 'apply 3, retry'],
    [
      'a failed plan whose time is garbage',
      RUNNING,
      failed('2', 0, { 'last-apply-time': 'yesterday' }),
      'apply 3, retry',
    ],
    [
      'a failed plan without a time',
      RUNNING,
      { 'failed-checksum': THIS, 'failure-count': '1' },
      'apply 2, retry',
    ],
    [
      'failures up to the limit',
      RUNNING,
      failed('2', 99, { 'max-failures': '2' }),
      'watchOver, failedTooOften',
    ],
    [
      'failures up to the limit, after a start',
      STARTED,
      failed('2', 99, { 'max-failures': '2' }),
      'watchOver, failedTooOften',
    ],
    [
      'failures below the limit',
      RUNNING,
      failed('2', 99, { 'max-failures': '3' }),
      'apply 3, retry',
    ],
    [
      'a limit of 0',
      RUNNING,
      failed('1', 99, { 'max-failures': '0' }),
      'watchOver, failedTooOften',
    ],
    ['a limit of -1', RUNNING, failed('9', 99, { 'max-failures': '-1' }), 'apply 10, retry'],
    ['an empty limit', RUNNING, failed('9', 99, { 'max-failures': '' }), 'apply 10, retry'],
    [
      'a limit that is garbage',
      RUNNING,
      failed('9', 99, { 'max-failures': 'many' }),
      'apply 10, retry',
    ],
    ['a count that is garbage', RUNNING, failed('x', 1), 'apply 1, changed'],
    ['pending', RUNNING, { 'plan-state': 'pending' }, 'announce, pending'],
    [
      'pending, though it failed just now',
      RUNNING,
      failed('9', 1, { 'plan-state': 'pending', 'max-failures': '1' }),
      'announce, pending',
    ],
    [
      'in-progress, announced here',
      { firstPass: false, announced: { checksum: THIS, revision: 4 } },
      { 'plan-state': 'in-progress', 'plan-revision': '4', 'failure-count': '2' },
      'apply 1, announced',
    ],
    [
      'in-progress, announced here for another revision',
      { firstPass: false, announced: { checksum: THIS, revision: 4 } },
      { 'plan-state': 'in-progress', 'plan-revision': '5', 'failure-count': '2' },
      'apply 3, interrupted',
    ],
    [
      'in-progress, announced here for another plan',
      { firstPass: false, announced: { checksum: OTHER, revision: 4 } },
      { 'plan-state': 'in-progress', 'plan-revision': '4', 'failure-count': '2' },
      'apply 3, interrupted',
    ],
    [
      'in-progress after a start',
      STARTED,
      { 'plan-state': 'in-progress', 'failure-count': '2' },
      'apply 3, interrupted',
    ],
    [
      'in-progress, written by someone else',
      RUNNING,
      { 'plan-state': 'in-progress', 'failure-count': '2' },
      'apply 3, interrupted',
    ],
    ['succeeded after a start', STARTED, { 'plan-state': 'succeeded' }, 'watchOver, terminal'],
    [
      'succeeded with a changed plan',
      RUNNING,
      { 'plan-state': 'succeeded', 'applied-checksum': OTHER },
      'watchOver, terminal',
    ],
    ['failed', RUNNING, failed('1', 99, { 'plan-state': 'failed' }), 'watchOver, terminal'],
    ['cancelled', STARTED, { 'plan-state': 'cancelled' }, 'watchOver, terminal'],
    ['a state that is not known', RUNNING, { 'plan-state': 'bogus' }, 'watchOver, terminal'],
    ['an empty state', RUNNING, { 'plan-state': '' }, 'watchOver, terminal'],
  ])('%s', (_, memory, texts, decision) => {
    expect(shown(decidePass(secretState(buffers(texts)), THIS, memory, NOW))).toBe(decision);
  });

  it.each<[string, Record<string, string>, number]>([
    ['nothing', {}, 1],
    ['7', { 'plan-revision': '7' }, 8],
    ['garbage', { 'plan-revision': 'x' }, 1],
  ])('counts the revision up, from %s', (_title, texts, revision) => {
    const state = secretState(buffers({ ...texts, 'plan-state': 'pending' }));
    expect(decidePass(state, THIS, RUNNING, NOW)).toMatchObject({ revision });
  });

  const word = fc.constantFrom('', '0', '1', '2', '-1', 'x', '9'.repeat(20));
  const checksum = fc.constantFrom('', THIS, OTHER, 'x');
  const anySecret = fc.record(
    {
      [KEY.appliedChecksum]: checksum,
      [KEY.failedChecksum]: checksum,
      [KEY.failureCount]: word,
      [KEY.successCount]: word,
      [KEY.maxFailures]: word,
      [KEY.probePeriod]: word,
      [KEY.lastApplyTime]: fc.oneof(word, fc.integer({ min: -100, max: 100 }).map(ago)),
      [KEY.planState]: fc.constantFrom('', 'pending', 'in-progress', 'succeeded', 'failed', 'x'),
      [KEY.planRevision]: word,
      [KEY.probeStatuses]: fc.constantFrom('', '{}', '{bad', 'null', '[]'),
    },
    { requiredKeys: [] },
  );
  const anyMemory = fc.record<AgentMemory>({ firstPass: fc.boolean() });

  it('has one answer for every Secret, and never skips a pending plan', () => {
    fc.assert(
      fc.property(anySecret, anyMemory, (texts, memory) => {
        const decision = decidePass(secretState(buffers(texts)), THIS, memory, NOW);
        expect(['apply', 'announce', 'watchOver']).toContain(decision.kind);
        expect(decision.kind === 'announce').toBe(texts[KEY.planState] === 'pending');
      }),
    );
  });

  it('never starts again at once what has ended, and applying twice changes what applying once changed', () => {
    fc.assert(
      fc.property(anySecret, anyMemory, fc.boolean(), (texts, memory, succeeded) => {
        const data = buffers(texts);
        const state = secretState(data);
        const decision = decidePass(state, THIS, memory, NOW);
        if (decision.kind !== 'apply') return;
        const result = { succeeded, outputs: {}, periodic: {}, probes: {} };
        const ended = { state, checksum: THIS, decision, startedAt: NOW, result, ...memory };
        const after = { ...data, ...secretChanges(ended, data) };
        const next = decidePass(secretState(after), THIS, RUNNING, NOW);
        expect(next.kind).toBe('watchOver');
        const attempt = succeeded ? 0 : decision.attempt;
        expect(secretState(after).failureCount).toBe(attempt);
        if (next.kind !== 'watchOver') return;
        const again = { ...ended, state: secretState(after), decision: next, firstPass: false };
        expect(secretChanges(again, after)).toEqual({});
      }),
    );
  });

  it('counts an attempt once, however often the plan is tried', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 8 }), (starts) => {
        let data: SecretData = {};
        const attempts: number[] = [];
        let now = NOW;
        for (const firstPass of starts) {
          const state = secretState(data);
          const decision = decidePass(state, THIS, { firstPass }, now);
          if (decision.kind !== 'apply') throw new Error('it was not tried');
          attempts.push(decision.attempt);
          const result = { succeeded: false, outputs: {}, periodic: {}, probes: {} };
          data = {
            ...data,
            ...secretChanges(
              { state, checksum: THIS, decision, firstPass, startedAt: now, result },
              data,
            ),
          };
          now = new Date(now.getTime() + 31_000);
        }
        expect(attempts).toEqual(starts.map((_, index) => index + 1));
      }),
    );
  });
});
