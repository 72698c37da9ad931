import { DEFAULT_FLOW_LIMITS, ReceiveGate, SendGate, SharedBuffer } from './flow-control.js';

const MIB = 1024 * 1024;
const KIB = 1024;

describe('the receiving gate', () => {
  it('pauses above 2 MiB and resumes below 256 KiB', () => {
    const gate = new ReceiveGate(new SharedBuffer(DEFAULT_FLOW_LIMITS));
    expect(gate.hold(2 * MIB)).toBeUndefined();
    expect(gate.hold(1)).toBe('pause');
    expect(gate.release(2 * MIB + 1 - 256 * KIB)).toBeUndefined();
    expect(gate.release(1)).toBe('resume');
    expect(gate.release(100)).toBeUndefined();
  });

  it('repeats a pause that seems not to have arrived, and overflows at the cap', () => {
    const gate = new ReceiveGate(new SharedBuffer(DEFAULT_FLOW_LIMITS));
    expect(gate.hold(2 * MIB + 1)).toBe('pause');
    expect(gate.hold(512 * KIB)).toBeUndefined();
    expect(gate.hold(1)).toBe('pause');
    expect(gate.tick()).toBe('pause');
    gate.hold(16 * MIB - gate.heldBytes);
    expect(gate.heldBytes).toBe(16 * MIB);
    expect(gate.hold(1)).toBe('overflow');
  });

  it('repeats a resume at every tick in which nothing came', () => {
    const gate = new ReceiveGate(new SharedBuffer(DEFAULT_FLOW_LIMITS));
    expect(gate.tick()).toBeUndefined();
    gate.hold(3 * MIB);
    gate.release(3 * MIB);
    gate.heard();
    expect(gate.tick()).toBeUndefined();
    expect(gate.tick()).toBe('resume');
    expect(gate.tick()).toBe('resume');
  });

  it('gives each of many stalled streams a share, never less than the least', () => {
    const shared = new SharedBuffer(DEFAULT_FLOW_LIMITS);
    const gates = Array.from({ length: 1000 }, () => new ReceiveGate(shared));
    const paused = new Set<ReceiveGate>();
    for (let round = 0; paused.size < gates.length && round < 1000; round += 1)
      for (const gate of gates)
        if (!paused.has(gate) && gate.hold(32 * KIB) === 'pause') paused.add(gate);
    expect(paused.size).toBe(1000);
    expect(shared.totalBytes).toBeLessThanOrEqual(1000 * (64 + 32) * KIB + 24 * MIB);
    for (const gate of gates) gate.dispose();
    expect(shared.totalBytes).toBe(0);
  });

  it('resets only who holds more than its share when the session is over its cap', () => {
    const shared = new SharedBuffer(DEFAULT_FLOW_LIMITS);
    for (let index = 0; index < 9; index += 1) new ReceiveGate(shared).hold(15 * MIB);
    const modest = new ReceiveGate(shared);
    expect(modest.hold(64 * KIB)).toBeUndefined();
    expect(modest.hold(1)).toBe('overflow');
  });
});

describe('the sending gate', () => {
  const ticks = (gate: SendGate, renews: boolean, count: number): boolean[] =>
    Array.from({ length: count }, () => gate.tick(renews));

  it('believes a pause for three ticks when the peer renews its pauses', () => {
    const gate = new SendGate();
    gate.pause();
    expect(ticks(gate, true, 3)).toEqual([false, false, false]);
    gate.pause();
    expect(ticks(gate, true, 4)).toEqual([false, false, false, true]);
    expect(gate.open).toBe(true);
  });

  it('lets single messages through at doubling intervals when the peer does not', () => {
    const gate = new SendGate();
    gate.pause();
    expect(ticks(gate, false, 6)).toEqual([false, false, false, false, false, true]);
    gate.sent();
    expect(gate.open).toBe(false);
    expect(ticks(gate, false, 12).lastIndexOf(true)).toBe(11);
    gate.sent();
    expect(ticks(gate, false, 23)).not.toContain(true);
    gate.resume();
    expect(gate.open).toBe(true);
    gate.sent();
    expect(gate.open).toBe(true);
  });
});
