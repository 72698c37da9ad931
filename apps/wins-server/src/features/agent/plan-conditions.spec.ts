import type { PlanStatus } from '@wins/system-agent';
import { planConditions } from './plan-conditions.js';

const NOW = Date.parse('2026-03-01T12:00:00Z');
const lastContactAt = new Date(NOW - 30_000);

function look(plans: readonly PlanStatus[] = [], silentMs = 30_000) {
  return planConditions({ plans, lastContactAt, silentMs });
}

function textsOf(...args: Parameters<typeof look>) {
  return look(...args).map(({ level, found }) => `${level}: ${found}`);
}

const plan = (source: string, state: PlanStatus['state'], probes: PlanStatus['probes'] = {}) => ({
  source,
  state,
  probes,
  failures: 0,
  periodic: {},
});
const error = Object.assign(new Error('the server answered 500'), { code: 'serverFailed' });

describe('of plans the daemon reports', () => {
  it('when the API server last answered, and that it has been silent for long', () => {
    expect(textsOf()).toEqual(['ok: last contact with the API server 30 s ago']);
    expect(look([], 3_630_000)).toMatchObject([
      {
        code: 'planServerSilent',
        level: 'warning',
        found: expect.stringContaining('3630 s') as string,
      },
    ]);
  });

  it('nothing of a server where plans come from files alone', () => {
    expect(planConditions({ plans: [] })).toEqual([]);
  });

  it.each<[PlanStatus, string]>([
    [plan('/plans/a.plan', { kind: 'starting' }), 'ok: /plans/a.plan: starting'],
    [
      plan('remote', { kind: 'starting' }),
      'problem: remote: starting: the daemon has not read its Secret yet',
    ],
    [
      plan('remote', { kind: 'disconnected', error, retryAt: new Date(NOW) } as never),
      'problem: remote: disconnected: the server answered 500',
    ],
    [
      plan('remote', { kind: 'failed', checksum: 'c0ffee', failures: 2 }),
      'problem: remote: failed: an instruction failed, in try 2',
    ],
  ])('where a plan stands', (status, expected) => {
    expect(textsOf([status])).toContain(expected);
  });

  it('that a new agent has not read its Secret, once that takes a minute', () => {
    expect(look([plan('remote', { kind: 'starting' })])[0]).toMatchObject({
      code: 'planServerUnreachable',
      visibleAfterMs: 60_000,
    });
  });

  it('which instruction of a plan failed, with its exit code and last words', () => {
    const failure = { instruction: 'install', exitCode: 3, stderrEnd: 'no room\n' };
    const state = { kind: 'failed', checksum: 'c0ffee', failures: 1, failure } as const;
    expect(look([plan('remote', state)])[0]).toMatchObject({
      code: 'planNotApplied',
      level: 'problem',
      found: 'remote: failed: instruction "install" ended with 3: "no room", in try 1',
      subject: 'remote',
    });
  });

  it('which probe is unhealthy, once it has been so for a minute', () => {
    const probes = {
      kubelet: { healthy: false, successCount: 0, failureCount: 4 },
      calico: { healthy: true, successCount: 1, failureCount: 0 },
    };
    const [, ...more] = look([plan('/plans/a.plan', { kind: 'starting' }, probes)]);
    expect(more[0]).toMatchObject({
      code: 'planProbeUnhealthy',
      level: 'warning',
      found: '/plans/a.plan: probe kubelet is unhealthy, after 4 failures in succession',
      visibleAfterMs: 60_000,
    });
    expect(more).toHaveLength(2);
  });
});
