import { getEventListeners, type Abortable } from 'node:events';
import fc from 'fast-check';
import { setImmediate as turn } from 'node:timers/promises';
import { backoffMs } from './backoff.js';
import type { Clock } from './clock.js';
import { Reconciler } from './reconciler.js';

const BACKOFF = { initialMs: 100, maxMs: 800, jitter: 0 };
const FIRST = 0;

/** How a pass ends: after which it rests, is due again after some milliseconds, or has failed. */
type End = 'rests' | 'fails' | number;

type Action =
  | { readonly do: 'want'; readonly value: number }
  | { readonly do: 'wake' | 'reconcile' | 'close' }
  | { readonly do: 'end'; readonly end: End }
  | { readonly do: 'elapse'; readonly ms: number };

const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('want'), value: fc.nat(2) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('wake', 'reconcile') }) },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('end'),
      end: fc.oneof(fc.constantFrom<End>('rests', 'fails', 'fails'), fc.nat(300)),
    }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('elapse'), ms: fc.nat(1_000) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('close') }) },
);

const actions = fc.array(action, { maxLength: 60, size: 'max' });

/** Time that passes only by `elapse`. */
class SimulatedClock implements Clock {
  readonly waits = new Set<{ readonly atMs: number; readonly end: () => void }>();
  nowMs = 0;
  now = (): Date => new Date(this.nowMs);
  monotonicMs = (): number => this.nowMs;

  wait(ms: number, { signal }: Abortable = {}): Promise<void> {
    return new Promise((resolve, reject) => {
      const wait = { atMs: this.nowMs + ms, end: resolve };
      this.waits.add(wait);
      signal?.addEventListener('abort', () => {
        this.waits.delete(wait);
        reject(signal.reason as Error);
      });
    });
  }

  elapse(ms: number): void {
    this.nowMs += ms;
    for (const wait of this.waits) {
      if (wait.atMs > this.nowMs) continue;
      this.waits.delete(wait);
      wait.end();
    }
  }
}

/** A reconciler whose passes end when the spec says so. */
class Subject {
  readonly clock = new SimulatedClock();
  readonly passes: number[] = [];
  readonly failures: number[] = [];
  readonly callers: string[] = [];
  /** Undefined while no pass runs. */
  signal: AbortSignal | undefined;
  isClosed = false;
  #end: (end: End) => void = () => undefined;

  readonly reconciler = new Reconciler<number>(FIRST, {
    clock: this.clock,
    pass: async (desired, signal) => {
      expect(this.signal).toBeUndefined();
      this.signal = signal;
      this.passes.push(desired);
      const end = await new Promise<End>((resolve) => (this.#end = resolve));
      this.signal = undefined;
      if (end === 'fails') throw new Error('no luck');
      return end === 'rests' ? undefined : end;
    },
    onFailure: (_error, failures) => {
      this.failures.push(failures);
      return backoffMs(BACKOFF, failures);
    },
  });

  get seen() {
    const { passes, failures, callers, signal, isClosed } = this;
    const dueAtMs = [...this.clock.waits].map(({ atMs }) => atMs);
    const { desired } = this.reconciler;
    const isAborted = signal?.aborted;
    return { passes, failures, callers, isAborted, isClosed, dueAtMs, desired };
  }

  async act(one: Action): Promise<void> {
    if (one.do === 'want') this.reconciler.want(one.value);
    if (one.do === 'wake') this.reconciler.wake();
    if (one.do === 'end') this.#end(one.end);
    if (one.do === 'elapse') this.clock.elapse(one.ms);
    if (one.do === 'close') void this.reconciler.close().then(() => (this.isClosed = true));
    if (one.do === 'reconcile') {
      const index = this.callers.push('waits') - 1;
      this.reconciler.reconcile().then(
        () => (this.callers[index] = 'done'),
        () => (this.callers[index] = 'closed'),
      );
    }
    await turn();
  }
}

/** The same as a state machine, without promises. */
class Model {
  readonly passes: number[] = [];
  readonly failures: number[] = [];
  readonly callers: string[] = [];
  #wanted = { desired: FIRST, failures: 0 };
  #running: { readonly wanted: { failures: number }; readonly callers: number[] } | undefined;
  #isAborted = false;
  #isDue = false;
  #isClosing = false;
  #nowMs = 0;
  #dueAtMs: number | undefined;
  #waiting: number[] = [];

  get seen() {
    const { passes, failures, callers } = this;
    const isRunning = this.#running !== undefined;
    return {
      passes,
      failures,
      callers,
      isAborted: isRunning ? this.#isAborted : undefined,
      isClosed: this.#isClosing && !isRunning,
      dueAtMs: this.#dueAtMs === undefined ? [] : [this.#dueAtMs],
      desired: this.#wanted.desired,
    };
  }

  act(one: Action): void {
    if (one.do === 'want' && one.value !== this.#wanted.desired) {
      this.#wanted = { desired: one.value, failures: 0 };
      this.#isAborted = true;
      this.#wake();
    }
    if (one.do === 'wake') this.#wake();
    if (one.do === 'reconcile') {
      this.#waiting.push(this.callers.push(this.#isClosing ? 'closed' : 'waits') - 1);
      this.#wake();
    }
    if (one.do === 'end') this.#end(one.end);
    if (one.do === 'elapse') {
      this.#nowMs += one.ms;
      if (this.#dueAtMs !== undefined && this.#dueAtMs <= this.#nowMs) this.#wake();
    }
    if (one.do === 'close') {
      this.#isClosing = this.#isAborted = true;
      this.#isDue = false;
      this.#dueAtMs = undefined;
      for (const index of this.#waiting) this.callers[index] = 'closed';
    }
  }

  #wake(): void {
    if (this.#isClosing) return;
    this.#isDue = true;
    this.#dueAtMs = undefined;
    if (this.#running === undefined) this.#begin();
  }

  #begin(): void {
    this.#isDue = this.#isAborted = false;
    this.#running = { wanted: this.#wanted, callers: this.#waiting };
    this.#waiting = [];
    this.passes.push(this.#wanted.desired);
  }

  #end(end: End): void {
    if (this.#running === undefined) return;
    const { wanted, callers } = this.#running;
    this.#running = undefined;
    for (const index of callers) this.callers[index] = 'done';
    let waitMs = typeof end === 'number' ? end : undefined;
    wanted.failures = end === 'fails' ? wanted.failures + 1 : 0;
    if (end === 'fails') {
      this.failures.push(wanted.failures);
      waitMs = Math.min(800, 100 * 2 ** (wanted.failures - 1));
    }
    if (this.#isDue) this.#begin();
    else if (!this.#isClosing && waitMs !== undefined) this.#dueAtMs = this.#nowMs + waitMs;
  }
}

describe('a reconciler', () => {
  it('does what its model does: one pass at a time, retries by the back-off, none after its end', () =>
    fc.assert(
      fc.asyncProperty(actions, async (some) => {
        const [subject, model] = [new Subject(), new Model()];
        for (const one of some) {
          await subject.act(one);
          model.act(one);
          expect(subject.seen).toEqual(model.seen);
        }
      }),
    ));

  it('ends with a pass for the value that is desired last, whatever happened before', () =>
    fc.assert(
      fc.asyncProperty(actions, fc.nat(2), async (some, value) => {
        const subject = new Subject();
        for (const one of some) if (one.do !== 'close') await subject.act(one);
        await subject.act({ do: 'want', value });
        while (subject.signal !== undefined) await subject.act({ do: 'end', end: 'rests' });
        expect(subject.passes.at(-1) ?? FIRST).toBe(value);
      }),
    ));

  it('begins a pass within the call while it rests', async () => {
    const subject = new Subject();
    subject.reconciler.want(1);
    expect(subject.passes).toEqual([1]);
    await subject.act({ do: 'end', end: 'rests' });
    subject.reconciler.want(2);
    expect(subject.passes).toEqual([1, 2]);
  });

  it('does one pass for all requests that end a wait', async () => {
    const subject = new Subject();
    subject.reconciler.wake();
    await subject.act({ do: 'end', end: 'fails' });
    subject.reconciler.want(1);
    subject.reconciler.want(2);
    const reconciled = subject.reconciler.reconcile();
    await subject.act({ do: 'end', end: 'rests' });
    await subject.act({ do: 'end', end: 'rests' });
    await reconciled;
    expect(subject.passes).toEqual([FIRST, 2]);
  });

  it('does not do a pass twice that is due when another value is desired', async () => {
    const subject = new Subject();
    subject.reconciler.wake();
    await subject.act({ do: 'end', end: 100 });
    subject.clock.elapse(100);
    subject.reconciler.want(1);
    await subject.act({ do: 'end', end: 'rests' });
    expect(subject.passes).toEqual([FIRST, 1]);
  });

  it('gives the reason of its end to the pass that runs and to those who wait for another', async () => {
    const subject = new Subject();
    const reason = new Error('the daemon is stopping');
    subject.reconciler.wake();
    const waiting = subject.reconciler.reconcile();
    const { signal } = subject;
    const closed = subject.reconciler.close(reason);
    await expect(waiting).rejects.toBe(reason);
    await expect(subject.reconciler.reconcile()).rejects.toBe(reason);
    expect([signal?.reason, subject.reconciler.closing.reason]).toEqual([reason, reason]);
    await subject.act({ do: 'end', end: 'fails' });
    await closed;
    await subject.reconciler.close();
  });

  it('leaves nothing on the signal of a caller', async () => {
    await using reconciler = new Reconciler(FIRST, {
      pass: () => Promise.resolve(),
      onFailure: () => 0,
    });
    const { signal } = new AbortController();
    await reconciler.reconcile({ signal });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('lets a caller leave, and does its pass all the same', async () => {
    const subject = new Subject();
    const reason = new Error('the client is gone');
    const leave = new AbortController();
    const left = subject.reconciler.reconcile({ signal: leave.signal });
    leave.abort(reason);
    await expect(left).rejects.toBe(reason);
    await expect(subject.reconciler.reconcile({ signal: leave.signal })).rejects.toBe(reason);
    expect(subject.passes).toEqual([FIRST]);
  });
});
