import { systemClock } from '@wins/time';
import { ok, problem, reportOf, warning, type Reported } from './condition.js';
import { Conditions } from './conditions.js';

const START = Date.parse('2026-03-01T12:00:00Z');

/** A source whose state the test sets, and clocks that the test moves: the wall clock also jumps. */
class World {
  readonly changes: string[] = [];
  reported: readonly Reported[] = [];
  monoMs = 0;
  jumpMs = 0;
  readonly conditions = new Conditions(
    [
      { name: 'quiet', report: () => [] },
      { name: 'loud', report: () => this.reported },
    ],
    {
      onChange: (phase, { code, subject, since }) =>
        void this.changes.push(`${phase} ${code} ${subject ?? ''} ${since}`),
      clock: {
        ...systemClock,
        now: () => new Date(START + this.monoMs + this.jumpMs),
        monotonicMs: () => this.monoMs,
      },
    },
  );

  become(...reported: readonly Reported[]): readonly string[] {
    this.reported = reported;
    this.conditions.update();
    return this.conditions.list().map(({ level, found }) => `${level}: ${found}`);
  }
}

const LOST = problem('plan', 'planLost', 'it is gone', 'find it');

describe('conditions of a daemon', () => {
  it('last since they were first seen, also when their text or level changes', () => {
    const world = new World();
    world.become(LOST);
    world.monoMs = 60_000;
    expect(world.become(warning('plan', 'planLost', 'nearly gone', 'look'))).toEqual([
      'warning: nearly gone',
    ]);
    expect(world.conditions.list()).toMatchObject([{ since: '2026-03-01T12:00:00.000Z' }]);
    expect(world.changes).toEqual(['began planLost  2026-03-01T12:00:00.000Z']);
  });

  it('are told when they begin and when they end, and again when they come back', () => {
    const world = new World();
    world.become(LOST);
    world.become();
    world.become(ok('plan', 'it is there'));
    world.monoMs = 1000;
    world.become(LOST);
    expect(world.changes).toEqual([
      'began planLost  2026-03-01T12:00:00.000Z',
      'ended planLost  2026-03-01T12:00:00.000Z',
      'began planLost  2026-03-01T12:00:01.000Z',
    ]);
  });

  it('are told apart by their subjects', () => {
    const world = new World();
    const of = (subject: string) => problem('port', 'portBusy', subject, 'free it', { subject });
    expect(world.become(of('tcp 1'), of('tcp 2'), of('tcp 2'))).toEqual([
      'problem: tcp 1',
      'problem: tcp 2',
    ]);
    world.become(of('tcp 2'));
    expect(world.changes.at(-1)).toMatch(/^ended portBusy tcp 1 /);
  });

  it('are not visible before their time, whatever the clock of the host says', () => {
    const world = new World();
    const slow = { ...LOST, visibleAfterMs: 10_000 };
    expect(world.become(slow)).toEqual([]);
    world.jumpMs = 86_400_000;
    world.monoMs = 9_999;
    expect(world.become(slow)).toEqual([]);
    world.jumpMs = -86_400_000;
    world.monoMs = 10_000;
    expect(world.become(slow)).toEqual(['problem: it is gone']);
    expect(world.changes).toEqual(['began planLost  2026-03-01T12:00:00.000Z']);
  });

  it('that end before their time are told to nobody', () => {
    const world = new World();
    world.become({ ...LOST, visibleAfterMs: 10_000 });
    world.monoMs = 9_000;
    world.become();
    world.monoMs = 20_000;
    expect(world.become({ ...LOST, visibleAfterMs: 10_000 })).toEqual([]);
    expect(world.changes).toEqual([]);
  });

  it('have at most 64 for each source and 1,024 characters of text', () => {
    const world = new World();
    const many = Array.from({ length: 1000 }, (_, index) =>
      warning('run', 'runGaveUp', 'x'.repeat(5000), 'look', { subject: `${index}` }),
    );
    const listed = world.become(...many, LOST);
    expect(listed).toHaveLength(64);
    expect(listed).toContain('problem: it is gone');
    expect(listed[1]).toHaveLength('warning: '.length + 1024);
  });
});

describe('a report', () => {
  it('leaves out what another of its conditions causes, and what only its source needs', () => {
    const caused = warning('port', 'portClosed', 'nobody listens', 'start it', {
      causes: ['daemonDown'],
    });
    const down = problem('daemon', 'daemonDown', 'it is gone', 'start it');
    expect(reportOf([caused, down])).toEqual([down]);
    const { causes: _, ...alone } = caused;
    expect(reportOf([caused, ok('daemon', 'it serves')])).toEqual([
      alone,
      ok('daemon', 'it serves'),
    ]);
  });
});
