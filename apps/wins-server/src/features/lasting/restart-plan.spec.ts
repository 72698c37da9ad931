import { ProcessError } from '@wins/process-manager';
import {
  afterEnd,
  afterRefusal,
  newPlan,
  type AttemptEnd,
  type RestartPlan,
} from './restart-plan.js';

const REQUEST = { path: '/p', args: [], envs: [] };
const MINUTE_MS = 60_000;
const longest = (): number => 1;

function planOf(policy: string): RestartPlan {
  const plan = newPlan(policy, REQUEST);
  if (plan === undefined) throw new Error('there is no plan');
  return plan;
}

function after(plan: RestartPlan, livedMs: readonly number[], end: Partial<AttemptEnd> = {}) {
  const given = { mark: 'm', code: 1, reason: 'exited', endedAtMs: 0, ...end };
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

  it('gives up after five lives in succession of less than ten seconds', () => {
    const short = 9_999;
    expect(
      waitsOf(planOf('always'), [short, short, 10_000, short, short, short, short]),
    ).not.toContain('gaveUp');
    expect(after(planOf('always'), Array<number>(5).fill(short)).next).toMatchObject({
      ...{ kind: 'gaveUp', why: 'burst' },
      reason: 'it ended 5 times in succession within 10 s of its start',
    });
  });

  it.each<[string, Partial<AttemptEnd>, RestartPlan['next']['kind']]>([
    ['always', { code: 0 }, 'again'],
    ['on-failure', { code: 0 }, 'none'],
    ['on-failure', { code: 3 }, 'again'],
    ['on-failure', { code: 0, reason: 'outOfMemory' }, 'again'],
    ['on-failure', { code: 137, reason: 'hostFailed' }, 'again'],
    ['always', { code: 143, reason: 'daemonStopping' }, 'again'],
    ['always', { code: 143, reason: 'stopped' }, 'none'],
    ['always', { code: 143, reason: 'replaced' }, 'none'],
    ['always', { code: 143, reason: 'yielded' }, 'none'],
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
      ...{ kind: 'gaveUp', why: 'refused', reason: 'the file has other bytes' },
    });
    const missing = new ProcessError('notFound', 'it is not there');
    expect(afterRefusal(planOf('always'), missing, 0).next.kind).toBe('again');
  });

  it.each(['often', 'on-failure:', 'on-failure:0', 'on-failure:1.5', 'always:3', 'Always'])(
    'has no policy %s',
    (policy) => {
      expect(() => newPlan(policy, REQUEST)).toThrow('its restart policy is none of');
    },
  );

  it('keeps no request of more than 256 KiB, and none of a run that is started once', () => {
    const large = { ...REQUEST, args: ['x'.repeat(256 * 1024)] };
    expect(() => newPlan('always', large)).toThrow('more than 262144 bytes');
    expect([newPlan('', large), newPlan('no', large)]).toEqual([undefined, undefined]);
  });
});
