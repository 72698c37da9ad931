import { moveRun, RUN_MOVES, type ProcessState } from './managed-process.js';

const states: readonly ProcessState[] = [
  { kind: 'running' },
  { kind: 'stopping', reason: 'stopped' },
  { kind: 'killing', reason: 'stopped' },
  { kind: 'draining', reason: 'stopped' },
  { kind: 'ended', exit: { code: 0, reason: 'stopped' } },
];

describe('the states of a process', () => {
  it('form this table: from each, where to', () => {
    expect(RUN_MOVES).toEqual({
      running: ['stopping'],
      stopping: ['killing', 'draining'],
      killing: ['draining'],
      draining: ['ended'],
      ended: [],
    });
  });

  it.each(states.flatMap((from) => states.map((to) => [from.kind, to.kind, from, to] as const)))(
    '%s to %s happens exactly when the table has it',
    (fromKind, toKind, from, to) => {
      if (RUN_MOVES[fromKind].includes(toKind)) expect(moveRun(from, to)).toBe(to);
      else expect(() => moveRun(from, to)).toThrow(/cannot go/);
    },
  );
});
