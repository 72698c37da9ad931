import { FloodGate } from './flood-gate.js';

describe('the gate of floods', () => {
  const flood = (client: string, verdict = 'refused') => ({ client, verdict });
  const admitted = (
    gate: FloodGate,
    times: number,
    of: Parameters<FloodGate['admit']>[2],
    ms = 0,
  ) =>
    Array.from({ length: times }, () => gate.admit('connect', () => 300, of, ms)).filter(Boolean)
      .length;

  it('lets ten of a second through, for each client and verdict', () => {
    const gate = new FloodGate();
    expect(admitted(gate, 100, flood('a'))).toBe(10);
    expect(admitted(gate, 100, flood('b'))).toBe(10);
    expect(admitted(gate, 100, flood('b', 'allowed'))).toBe(10);
    expect(gate.turn(999)).toBeUndefined();
    expect(gate.turn(1000)).toEqual({
      kind: 'counted',
      count: 270,
      groups: [
        { kind: 'connect', client: 'a', verdict: 'refused', count: 90 },
        { kind: 'connect', client: 'b', verdict: 'refused', count: 90 },
        { kind: 'connect', client: 'b', verdict: 'allowed', count: 90 },
      ],
    });
    expect(admitted(gate, 100, flood('a'), 1000)).toBe(10);
  });

  it('remembers a bounded number of clients and counts the others together', () => {
    const gate = new FloodGate();
    for (let n = 0; n < 3000; n += 1) gate.admit('connect', () => 100, flood(`c${n}`), 0);
    expect(gate.turn(1000)).toEqual({
      kind: 'counted',
      count: 3000 - 1024,
      groups: [{ kind: 'connect', client: '*others', verdict: 'refused', count: 3000 - 1024 }],
    });
  });

  it('gives refusals of many clients one share of the log, and allowed requests another', () => {
    const gate = new FloodGate();
    let written = 0;
    for (let ms = 0; ms < 100_000; ms += 1000) {
      gate.turn(ms);
      for (let n = 0; n < 100; n += 1) {
        if (gate.admit('start', () => 1000, flood(`${ms} ${n}`), ms)) written += 1000;
      }
    }
    expect(written).toBeLessThanOrEqual(1024 * 1024 + 100_000 * 4);
    expect(written).toBeGreaterThan(1024 * 1024);
    expect(gate.admit('start', () => 1000, flood('x', 'allowed'), 100_000)).toBe(true);
  });

  it('writes an action whatever else there is, but for more than ten a second of the same', () => {
    const gate = new FloodGate();
    for (let n = 0; n < 3000; n += 1)
      gate.admit('connect', () => 2000, flood(`c${n}`, 'allowed'), 0);
    const stop = (actionId: string) => ({ client: 'a', verdict: 'allowed', actionId });
    expect(admitted(gate, 5, stop('run 1'))).toBe(5);
    gate.turn(1000);
    expect(admitted(gate, 100, stop('run 1'), 1000)).toBe(10);
    expect(admitted(gate, 1, stop('run 2'), 1000)).toBe(1);
  });

  it('says when a second with something counted is over', () => {
    const gate = new FloodGate();
    expect(gate.dueInMs(0)).toBeUndefined();
    admitted(gate, 11, flood('a'), 100);
    expect(gate.dueInMs(100)).toBe(900);
    expect(gate.turn(100, true)).toMatchObject({ count: 1 });
    expect(gate.turn(100, true)).toBeUndefined();
  });
});
