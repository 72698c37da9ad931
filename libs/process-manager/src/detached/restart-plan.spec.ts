import { ProcessError } from '../process-error.js';
import {
  afterEnd,
  afterRefusal,
  afterStart,
  newPlan,
  startedByHand,
  type RestartPlan,
} from './restart-plan.js';

const REQUEST = { path: '/p', args: [], envs: [] };
const MINUTE_MS = 60_000;
const longest = (): number => 1;

const BACKOFF = { delayMs: 1000, maxDelayMs: 5 * MINUTE_MS };

const planOf = (policy: string): RestartPlan => ({
  ...newPlan(policy, REQUEST),
  backoff: BACKOFF,
});

function after(
  plan: RestartPlan,
  livedMs: readonly number[],
  end: Partial<Parameters<typeof afterEnd>[1]> = {},
) {
  const given = { mark: 'm', code: 1, reason: 'exited', endedAtMs: 0, ...end } as const;
  return livedMs.reduce((last, ms) => afterEnd(last, { ...given, livedMs: ms }, longest), plan);
}

function waitsOf(plan: RestartPlan, livedMs: readonly number[]): readonly unknown[] {
  return livedMs.map((_, index) => {
    const { next } = after(plan, livedMs.slice(0, index + 1));
    return next.kind === 'again' ? next.atMs : next.kind;
  });
}

describe('a plan of restarts', () => {
  it('waits twice as long each time, up to five minutes, and begins anew after ten minutes of health', () => {
    const lives = [...Array<number>(11).fill(MINUTE_MS), 10 * MINUTE_MS];
    const seconds = [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 1];
    expect(waitsOf(planOf('always'), lives)).toEqual(seconds.map((each) => each * 1000));
  });

  it('shortens its waits at random, by half at most', () => {
    const shortest = afterRefusal(planOf('always'), new ProcessError('notFound', ''), 0, () => 0);
    expect(shortest.next).toEqual({ kind: 'again', atMs: 500 });
  });

  it('never gives up without a limit, however short the lives are', () => {
    const waits = waitsOf(planOf('always'), Array<number>(50).fill(5));
    expect(waits).not.toContain('gaveUp');
    expect(waits.at(-1)).toBe(5 * MINUTE_MS);
  });

  it('has the delays and the limit of its entry, but its own limit counts first', () => {
    const backoff = { delayMs: 10, maxDelayMs: 30, giveUpAfter: 4 };
    const lives = Array<number>(5).fill(MINUTE_MS);
    expect(waitsOf({ ...planOf('always'), backoff }, lives)).toEqual([10, 20, 30, 30, 'gaveUp']);
    const own = waitsOf({ ...planOf('on-failure:1'), backoff }, lives.slice(3));
    expect(own).toEqual([10, 'gaveUp']);
  });

  it.each<[string, Partial<Parameters<typeof afterEnd>[1]>, RestartPlan['next']['kind']]>([
    ['always', { code: 0 }, 'again'],
    ['on-failure', { code: 0 }, 'none'],
    ['on-failure', { code: 3 }, 'again'],
    ['on-failure', { code: 0, reason: 'outOfMemory' }, 'again'],
    ['on-failure', { code: 137, reason: 'hostFailed' }, 'again'],
    ['always', { code: 143, reason: 'daemonStopping' }, 'again'],
    ['always', { code: 143, reason: 'stopped' }, 'stopped'],
    ['no', { code: 143, reason: 'stopped' }, 'stopped'],
    ['no', { code: 3 }, 'none'],
    ['always', { code: 143, reason: 'replaced' }, 'none'],
    ['always', { code: 143, reason: 'yielded' }, 'again'],
  ])('of %s goes on after %j with %s', (policy, end, kind) => {
    expect(after(planOf(policy), [MINUTE_MS], end).next.kind).toBe(kind);
  });

  it('starts again as often as its policy says, and as often again after ten minutes of health', () => {
    const lives = [MINUTE_MS, MINUTE_MS, 10 * MINUTE_MS, MINUTE_MS, MINUTE_MS];
    expect(waitsOf(planOf('on-failure:2'), lives)).toEqual([1000, 2000, 1000, 2000, 'gaveUp']);
  });

  it('gives up when a start is refused by a rule, and tries again when something is missing for now', () => {
    const refused = new ProcessError('checksumMismatch', 'the file has other bytes');
    expect(afterRefusal(planOf('always'), refused, 0).next).toEqual({
      kind: 'gaveUp',
      why: 'refused',
      reason: 'the file has other bytes',
    });
    const missing = new ProcessError('notFound', 'it is not there');
    expect(afterRefusal(planOf('always'), missing, 0).next.kind).toBe('again');
  });

  it('counts no refused start: neither as a restart nor as a failure', () => {
    const taken = new ProcessError('alreadyRunning', 'its name is taken');
    let plan = planOf('on-failure:1');
    for (let n = 0; n < 20; n += 1) plan = afterRefusal(plan, taken, 0, longest);
    expect(plan).toMatchObject({ restarts: 0, failures: 0 });
    expect(plan.next).toEqual({ kind: 'again', atMs: 5 * MINUTE_MS });
    const [first, restarted] = [afterStart(plan, false), afterStart(plan, true)];
    expect([first.restarts, restarted.restarts, first.refusals]).toEqual([0, 1, 0]);
    expect(after(restarted, [MINUTE_MS, MINUTE_MS]).next.kind).toBe('gaveUp');
  });

  it('that somebody stopped stays so, whatever ends afterwards, until somebody starts it', () => {
    const stopped: RestartPlan = { ...planOf('always'), failures: 3, next: { kind: 'stopped' } };
    expect(after(stopped, [MINUTE_MS]).next.kind).toBe('stopped');
    expect(startedByHand(stopped, 7)).toMatchObject({
      failures: 0,
      next: { kind: 'again', atMs: 7 },
    });
  });

  it.each(['often', 'on-failure:', 'on-failure:0', 'on-failure:1.5', 'always:3', 'Always'])(
    'has no policy %s',
    (policy) => {
      expect(() => newPlan(policy, REQUEST)).toThrow('its restart policy is none of');
    },
  );

  it('keeps no request of more than 256 KiB', () => {
    const large = { ...REQUEST, args: ['x'.repeat(256 * 1024)] };
    expect(() => newPlan('no', large)).toThrow('more than 262144 bytes');
  });
});
