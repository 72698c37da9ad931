import { ProcessorAccount } from './processor-account.js';

describe('the processor time of a client', () => {
  it('is a second at once, and half of one per second in the long run', () => {
    const account = new ProcessorAccount(0);
    account.charge(0, 999);
    expect(account.waitMs(0)).toBe(0);
    account.charge(0, 101);
    expect(account.waitMs(0)).toBe(201);
    expect(account.waitMs(100)).toBe(101);
    expect(account.waitMs(201)).toBe(0);
    account.charge(1201, 501);
    expect(account.waitMs(1201)).toBeGreaterThan(0);
  });

  it('is owed for 2 s at most, whatever one piece of work took', () => {
    const account = new ProcessorAccount(0);
    account.charge(60_000, 60_000);
    expect(account.waitMs(60_000)).toBe(2001);
  });

  it('is as if it had never been used after a rest', () => {
    const account = new ProcessorAccount(0);
    account.charge(0, 300);
    expect(account.restMs(0)).toBe(600);
    expect(account.restMs(600)).toBe(0);
    account.charge(600, 999);
    expect(account.waitMs(600)).toBe(0);
  });
});
