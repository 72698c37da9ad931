import fc from 'fast-check';
import { UdpTracker, type TrackedFlow } from './udp-tracker.js';

const LIMITS = { most: 4, mostOfSource: 3, oneWayMs: 30, bothWaysMs: 120 };

interface Flow {
  readonly source: string;
  lastAt: number;
  isAnswered: boolean;
  isAssured: boolean;
  tracked?: TrackedFlow | undefined;
}

/** Keeps `flows` in the order in which they began. */
class Model {
  now = 0;
  flows: Flow[] = [];
  readonly ended: Flow[] = [];
  readonly tracker = new UdpTracker({ ...LIMITS, now: () => this.now });

  begin(source: string): void {
    const flow: Flow = { source, lastAt: this.now, isAnswered: false, isAssured: false };
    const own = this.flows.filter((other) => other.source === source);
    const isOne = (other: Flow) => !other.isAssured;
    const wanted: Flow[] = [];
    const endFirst = (among: readonly Flow[]): boolean => {
      const first = among.find(isOne);
      if (first !== undefined) wanted.push(first);
      return first !== undefined;
    };
    const isTaken =
      (own.length < LIMITS.mostOfSource || endFirst(own)) &&
      (this.flows.length - wanted.length < LIMITS.most || endFirst(this.flows));
    const before = this.ended.length;
    flow.tracked = this.tracker.track(source, () => this.ended.push(flow));
    expect(flow.tracked !== undefined).toBe(isTaken);
    expect(this.ended.slice(before)).toEqual(wanted);
    this.flows = this.flows.filter((other) => !wanted.includes(other));
    if (isTaken) this.flows.push(flow);
  }

  pass(ms: number): void {
    this.now += ms;
    const idle = ({ isAssured }: Flow) => (isAssured ? LIMITS.bothWaysMs : LIMITS.oneWayMs);
    const isOver = (flow: Flow) => this.now - flow.lastAt >= idle(flow);
    const wanted = this.flows.filter(isOver);
    const before = this.ended.length;
    this.tracker.sweep();
    expect(this.ended.slice(before)).toEqual(wanted);
    this.flows = this.flows.filter((flow) => !wanted.includes(flow));
  }

  move(index: number, what: 'sent' | 'replied' | 'release'): void {
    const flow = this.flows[index % Math.max(1, this.flows.length)];
    if (flow === undefined) return;
    flow.tracked?.[what]();
    if (what === 'release') this.flows = this.flows.filter((other) => other !== flow);
    if (what === 'replied') flow.isAnswered = true;
    if (what === 'sent') flow.isAssured ||= flow.isAnswered;
    if (what !== 'release') flow.lastAt = this.now;
    expect(flow.tracked?.isAssured).toBe(flow.isAssured);
  }
}

describe('flows that are tracked', () => {
  it('end by time and by number, assured ones by time alone, whatever happens', () => {
    const step = fc.oneof(
      fc.record({ op: fc.constant('begin' as const), source: fc.constantFrom('a', 'b', 'c') }),
      fc.record({ op: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 130 }) }),
      fc.record({
        op: fc.constantFrom('sent' as const, 'replied' as const, 'release' as const),
        index: fc.nat(3),
      }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const model = new Model();
        for (const each of steps) {
          if (each.op === 'begin') model.begin(each.source);
          else if (each.op === 'pass') model.pass(each.ms);
          else model.move(each.index, each.op);
          expect(model.tracker.size).toBe(model.flows.length);
        }
        model.tracker[Symbol.dispose]();
      }),
      { numRuns: 100 },
    );
  });

  it('are 1,024 at most, and no flood from forged addresses ends one that is assured', () => {
    const ended: string[] = [];
    using tracker = new UdpTracker();
    const known = tracker.track('192.0.2.1', () => ended.push('known'));
    known?.sent();
    known?.replied();
    known?.sent();
    for (let n = 0; n < 5_000; n += 1)
      tracker.track(`203.0.113.${n % 256}`, () => ended.push('forged'));
    expect(tracker.size).toBe(1024);
    expect(ended).toHaveLength(5_001 - 1024);
    expect(ended).not.toContain('known');
  });
});
