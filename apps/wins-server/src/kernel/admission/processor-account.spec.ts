import { ProcessorAccount } from './processor-account.js';

describe('the processor time of a client', () => {
  let nowMs: number;
  let account: ProcessorAccount;
  beforeEach(() => {
    nowMs = 0;
    account = new ProcessorAccount(() => nowMs);
  });
  const waitMsAt = (ms: number): number => {
    nowMs = ms;
    return account.waitMs;
  };

  it('is a second at once, and half of one per second in the long run', () => {
    account.charge(999);
    expect(account.waitMs).toBe(0);
    account.charge(101);
    expect([0, 100, 201].map(waitMsAt)).toEqual([201, 101, 0]);
    nowMs = 1201;
    account.charge(501);
    expect(account.waitMs).toBeGreaterThan(0);
  });

  it('is owed for 2 s at most, whatever one piece of work took', () => {
    nowMs = 60_000;
    account.charge(60_000);
    expect(account.waitMs).toBe(2001);
  });

  it('is as if it had never been used after a rest', () => {
    account.charge(300);
    expect(account.restMs).toBe(600);
    nowMs = 600;
    expect(account.restMs).toBe(0);
    account.charge(999);
    expect(account.waitMs).toBe(0);
  });
});
