import { KeepAliveLease } from './keep-alive-lease.js';

describe('KeepAliveLease', () => {
  let expired: number;
  let isRunning: boolean;
  let lease: KeepAliveLease;

  beforeEach(() => {
    jest.useFakeTimers();
    expired = 0;
    isRunning = true;
    lease = new KeepAliveLease(30_000, () => {
      expired += 1;
      return isRunning;
    });
  });

  afterEach(() => jest.useRealTimers());

  it('expires once when nobody claims it in time, and cannot be claimed afterwards', () => {
    jest.advanceTimersByTime(29_999);
    expect([lease.state, expired]).toEqual(['unclaimed', 0]);
    jest.advanceTimersByTime(1);
    expect([lease.state, expired]).toEqual(['expired', 1]);
    expect(lease.claim()).toBe(false);
    expect(lease.release()).toBe(false);
  });

  it('has one holder, who can give it back once', () => {
    expect(lease.claim()).toBe(true);
    expect(lease.claim()).toBe(false);
    jest.advanceTimersByTime(60_000);
    expect([lease.state, expired]).toEqual(['held', 0]);
    expect(lease.release()).toBe(true);
    expect(lease.release()).toBe(false);
    expect(lease.claim()).toBe(false);
    expect(lease.state).toBe('released');
  });

  it('can be claimed late for a run that ended in time', () => {
    isRunning = false;
    jest.advanceTimersByTime(30_000);
    expect(lease.state).toBe('unclaimed');
    expect(lease.claim()).toBe(true);
  });

  it('leaves no timer once it is claimed or its run has ended', () => {
    lease.stopClock();
    expect(jest.getTimerCount()).toBe(0);
    expect(lease.claim()).toBe(true);
  });
});
