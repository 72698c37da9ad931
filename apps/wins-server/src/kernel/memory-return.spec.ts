import { collector, collectReads, MemoryPolicy, returnMemory, youngCollector } from './memory.js';

const MIB = 1024 * 1024;
const QUIET = 0.01;
const BUSY = 0.9;
const START_MIB = 65;

/** Passes the looks to one policy, and returns its decision after each. A look is a tuple: the time in seconds, the memory in MiB, the busy share. */
function asked(...looks: readonly (readonly [at: number, mib: number, busyShare?: number])[]) {
  const policy = new MemoryPolicy(START_MIB * MIB);
  return looks.map(([seconds, mib, busyShare = QUIET]) =>
    policy.look({ at: seconds * 1000, residentBytes: mib * MIB, oldBytes: 0, busyShare }),
  );
}

describe('memory is given back', () => {
  afterEach(() => {
    jest.useRealTimers();
    jest.restoreAllMocks();
  });

  it('never while nothing has grown', () => {
    expect(asked([1, 65], [2, 72], [3, 60], [4, 67])).toEqual(Array(4).fill('wait'));
  });

  it('never while the system cannot say how much there is, and that ends nothing', () => {
    jest.useFakeTimers();
    // On Linux this call opens a file, which fails without a free descriptor.
    const rss = jest.spyOn(process.memoryUsage, 'rss').mockImplementation(() => {
      throw Object.assign(new Error('too many open files'), { code: 'EMFILE' });
    });
    const collect = jest.fn();
    using _memory = returnMemory({ collect });
    jest.advanceTimersByTime(10_000);
    expect(rss.mock.calls.length).toBeGreaterThan(10);
    expect(collect).not.toHaveBeenCalled();
  });

  it('by the C library once soon after the start, whatever V8 does', () => {
    jest.useFakeTimers();
    const [collect, trim] = [jest.fn(), jest.fn()];
    using _memory = returnMemory({ collect, trim });
    jest.advanceTimersByTime(5_000);
    expect([trim.mock.calls.length, collect.mock.calls.length]).toEqual([1, 0]);
  });

  it('when the daemon has grown and become quiet, and what was freed is trimmed at the next look', () => {
    const looks = [
      [1, 90, BUSY],
      [2, 90],
      [3, 90],
    ] as const;
    expect(asked(...looks)).toEqual(['wait', 'collect', 'trim']);
  });

  it('by a second collection after a rest, which is shorter for nobody', () => {
    const looks = [1, 2, 3, 4, 5, 6, 7, 8].map((at) => [at, 90] as const);
    expect(asked(...looks)).toEqual([
      'collect',
      'trim',
      'wait',
      'wait',
      'wait',
      'wait',
      'collect',
      'trim',
    ]);
  });

  it('ever more rarely where steady work makes it again, and as soon as before after a long rest', () => {
    const policy = new MemoryPolicy(START_MIB * MIB);
    const collected: number[] = [];
    let mib = START_MIB;
    const work = (from: number, to: number): void => {
      for (let at = from; at < to; at += 0.5) {
        mib += 1;
        const look = { at: at * 1000, residentBytes: mib * MIB, oldBytes: 0, busyShare: QUIET };
        if (policy.look(look) !== 'collect') continue;
        collected.push(at);
        mib = START_MIB;
      }
    };
    work(1, 600);
    const gaps = collected.map((at, index) => at - (collected[index - 1] ?? 0));
    expect(gaps.slice(-3)).toEqual([60, 60, 60]);
    expect(collected.length).toBeLessThan(16);
    mib = START_MIB;
    const before = collected.length;
    work(900, 920);
    expect(collected.length).toBe(before + 2);
  });

  it('by no second collection where the first was enough', () => {
    expect(asked([1, 90], [2, 80], [3, 70], [20, 72])).toEqual(['collect', 'trim', 'wait', 'wait']);
  });

  it('not again for what is left after two: that is in use, until it grows or shrinks', () => {
    const looks = [
      [1, 90],
      [2, 90],
      [8, 90],
      [9, 90],
      [30, 90],
      [60, 97],
      [90, 98],
    ] as const;
    expect(asked(...looks)).toEqual([
      'collect',
      'trim',
      'collect',
      'trim',
      'wait',
      'wait',
      'collect',
    ]);
  });

  /** Seconds at which cycles begin, and seconds between cycles, while memory use stays constant. */
  const cyclesOf = (busyUntil: number) => {
    const policy = new MemoryPolicy(START_MIB * MIB);
    const collected: number[] = [];
    for (let at = 1; at < 900; at += 0.5) {
      const busyShare = at > 100 && at < busyUntil ? BUSY : QUIET;
      const look = { at: at * 1000, residentBytes: 90 * MIB, oldBytes: 0, busyShare };
      if (policy.look(look) === 'collect') collected.push(at);
    }
    const cycles = collected.filter((_, index) => index % 2 === 0);
    const pauses = cycles.slice(1).map((at, index) => at - (collected[2 * index + 1] ?? 0));
    return { cycles, pauses };
  };

  it('again after two minutes, then after four, when others may have let go what they held', () => {
    expect(cyclesOf(0).pauses).toEqual([120, 240, 480]);
  });

  it('again as soon as it is quiet, when it was busy after two minutes', () => {
    const { cycles, pauses } = cyclesOf(300);
    expect(cycles[1]).toBe(300);
    expect(pauses[1]).toBe(240);
  });

  it('while it is busy too, when old objects have grown by 8 MiB: again when what is left has', () => {
    const policy = new MemoryPolicy(START_MIB * MIB);
    const looks = [10, 14, 17.5, 18, 12, 19, 20, 13].map((old, at) =>
      policy.look({
        at: at * 500,
        residentBytes: 200 * MIB,
        oldBytes: old * MIB,
        busyShare: BUSY,
      }),
    );
    expect(looks).toEqual(['wait', 'wait', 'wait', 'collect', 'trim', 'wait', 'collect', 'trim']);
  });

  it('when it has become small by itself and then has grown', () => {
    expect(asked([1, 60], [2, 68])).toEqual(['wait', 'collect']);
  });
});

it('collects what nobody has any more, and shows the rest of the program nothing of how', async () => {
  const weak = new WeakRef({});
  // A weak reference keeps its target alive until the end of the event-loop turn.
  await new Promise((resolve) => setImmediate(resolve));
  const collect = collector();
  collect();
  expect(weak.deref()).toBeUndefined();
  expect('gc' in globalThis).toBe(false);
});

it('collects young objects once for each 8 MiB that were read', () => {
  let times = 0;
  const read = collectReads(() => (times += 1));
  for (let count = 0; count < 1000; count += 1) read(MIB / 16);
  expect(times).toBe(7);
});

it('gives back what reads have left outside of the heap, without a look at all of it', async () => {
  const octets = (): number => process.memoryUsage().arrayBuffers;
  const before = octets();
  for (let count = 0; count < 64; count += 1) Buffer.allocUnsafeSlow(MIB / 16);
  const collect = youngCollector();
  // V8 frees collected memory in a background thread.
  while (octets() > before + 2 * MIB) {
    collect();
    await new Promise((resolve) => setImmediate(resolve));
  }
});
