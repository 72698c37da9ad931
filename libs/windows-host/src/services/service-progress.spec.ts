import { judgeProgress, type ServiceState, type ServiceStatus } from './service-wait.js';

const status = (state: ServiceState, checkpoint = 0, waitHintMs = 0): ServiceStatus => ({
  state,
  checkpoint,
  waitHintMs,
  pid: 1,
  win32ExitCode: 0,
  serviceExitCode: 0,
});

describe('a service on its way', () => {
  it.each([
    ['running', 'running', 'reached'],
    ['running', 'startPending', 'waiting'],
    ['running', 'stopped', 'ended'],
    ['running', 'stopPending', 'waiting'],
    ['stopped', 'stopped', 'reached'],
    ['stopped', 'running', 'waiting'],
    ['stopped', 'stopPending', 'waiting'],
  ] as const)('to %s that is %s has %s', (wanted, state, verdict) => {
    expect(judgeProgress(wanted, status(state), 0).verdict).toBe(verdict);
  });

  it('has stalled when its checkpoint stays for longer than it said, and no sooner', () => {
    const first = judgeProgress('running', status('startPending', 1, 5000), 0);
    const late = judgeProgress('running', status('startPending', 1, 5000), 15_000, first);
    expect(late.verdict).toBe('waiting');
    const stalled = judgeProgress('running', status('startPending', 1, 5000), 15_001, late);
    expect(stalled.verdict).toBe('stalled');
  });

  it('has its time anew with each checkpoint', () => {
    const first = judgeProgress('running', status('startPending', 1, 5000), 0);
    const second = judgeProgress('running', status('startPending', 2, 5000), 15_001, first);
    expect(second).toMatchObject({ verdict: 'waiting', changedAtMs: 15_001 });
  });

  it('that runs and is asked to stop may take its time to begin with it', () => {
    const first = judgeProgress('stopped', status('running'), 0);
    expect(judgeProgress('stopped', status('running'), 60_000, first).verdict).toBe('waiting');
  });
});
