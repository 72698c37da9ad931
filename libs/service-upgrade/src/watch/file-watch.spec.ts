import { advance, type FileWatch, type FileWatchEvent } from './file-watch.js';

const [A, B] = ['a', 'b'];
const see = (file: string | undefined): FileWatchEvent => ({ kind: 'seen', file });
const ABSENT: FileWatch = { kind: 'absent' };
const CHANGING: FileWatch = { kind: 'changing', file: A };
const EXAMINING: FileWatch = { kind: 'examining', file: A, failures: 0 };
const DEFERRED: FileWatch = { kind: 'deferred', file: A, failures: 1, untilMs: 1000 };
const OFFERED: FileWatch = { kind: 'offered', file: A, failures: 0, id: 'x', untilMs: 1000 };
const SETTLED: FileWatch = { kind: 'settled', file: A };

const ALL_EVENTS: readonly FileWatchEvent[] = [
  see(A),
  see(B),
  see(undefined),
  ...(['moved', 'done', 'unfit', 'failed'] as const).map((kind) => ({ kind })),
  { kind: 'handedOver', id: 'y' },
];

/** What each event makes of each state, the clock being at 999 ms; what is not here changes nothing. */
const MOVES: readonly (readonly [FileWatch, FileWatchEvent, FileWatch])[] = [
  [ABSENT, see(A), CHANGING],
  [ABSENT, see(B), { kind: 'changing', file: B }],
  [CHANGING, see(A), EXAMINING],
  [CHANGING, see(B), { kind: 'changing', file: B }],
  [CHANGING, see(undefined), ABSENT],
  [EXAMINING, { kind: 'moved' }, ABSENT],
  [EXAMINING, { kind: 'done' }, SETTLED],
  [EXAMINING, { kind: 'unfit' }, { ...DEFERRED, failures: 0, untilMs: 10_999 }],
  [EXAMINING, { kind: 'failed' }, { ...DEFERRED, untilMs: 2999 }],
  [
    EXAMINING,
    { kind: 'handedOver', id: 'y' },
    { kind: 'offered', file: A, failures: 0, id: 'y', untilMs: 600_999 },
  ],
  [DEFERRED, see(B), { kind: 'changing', file: B }],
  [DEFERRED, see(undefined), ABSENT],
  [OFFERED, { kind: 'done' }, SETTLED],
  [OFFERED, { kind: 'failed' }, { ...DEFERRED, untilMs: 2999 }],
  [SETTLED, see(B), { kind: 'changing', file: B }],
  [SETTLED, see(undefined), ABSENT],
];

describe('a watched file', () => {
  it.each(MOVES)('%j and %j: %j', (before, event, after) => {
    expect(advance(before, event, 999)).toEqual(after);
  });

  const told = new Set(MOVES.map(([before, event]) => JSON.stringify([before, event])));
  const rest = [ABSENT, CHANGING, EXAMINING, DEFERRED, OFFERED, SETTLED].flatMap((before) =>
    ALL_EVENTS.filter((event) => !told.has(JSON.stringify([before, event]))).map(
      (event) => [before, event] as const,
    ),
  );
  it.each(rest)('%j is what it was after %j', (before, event) => {
    expect(advance(before, event, 999)).toEqual(before);
  });

  it('is examined when it is the same at two looks, not before', () => {
    let watch: FileWatch = ABSENT;
    const looks = [A, B, undefined, B, A, A].map((file, second) => {
      watch = advance(watch, see(file), second * 1000);
      return watch.kind;
    });
    const wanted = ['changing', 'changing', 'absent', 'changing', 'changing', 'examining'];
    expect(looks).toEqual(wanted);
  });

  it('that was deferred is examined again when its time has come, later each time, but not later than that', () => {
    const waits: number[] = [];
    let watch: FileWatch = EXAMINING;
    for (let nowMs = 0; waits.length < 12;) {
      watch = advance(watch, { kind: 'failed' }, nowMs);
      if (watch.kind !== 'deferred') throw new Error(watch.kind);
      const { untilMs } = watch;
      waits.push((untilMs - nowMs) / 1000);
      expect(advance(watch, see(A), untilMs - 1)).toBe(watch);
      watch = advance(watch, see(A), (nowMs = untilMs));
      expect(watch.kind).toBe('examining');
    }
    expect(waits).toEqual([2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600, 600]);
  });
});
