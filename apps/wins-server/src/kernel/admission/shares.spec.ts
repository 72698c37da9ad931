import { UNIDENTIFIED, type ClientIdentity } from '@wins/base';
import type { ResourceRow } from './resources.js';
import { Shares, type Claim, type LimitReason } from './shares.js';

const client = (key: string): ClientIdentity => ({
  key,
  isAdministrator: false,
  isEverybody: false,
  description: {},
  names: [],
});
const [a, b, c] = [client('a'), client('b'), client('c')];
const administrator = { ...client('uid:0'), isAdministrator: true };
const everybody = { ...client('unknown'), isEverybody: true };

describe('what clients share', () => {
  let told: string[];
  let ended: string[];
  beforeEach(() => {
    told = [];
    ended = [];
  });
  const share = (row: Partial<ResourceRow> = {}): Shares =>
    new Shares(
      { what: 'things', total: 12, reserve: 0, floor: 1, atLimit: 'yields', ...row },
      ({ key }, why) => told.push(`${key} ${why}`),
    );
  const take = (shares: Shares, who: ClientIdentity, count = 1, name = who.key) =>
    Array.from({ length: count }, (_, index) =>
      shares.take(who, {
        end: (why: LimitReason) => ended.push(`${name}${index} ${why}`),
      }),
    ).filter((claim): claim is Claim => claim !== undefined);

  it('is for one client half of it, so that there is some for who comes', () => {
    const shares = share();
    expect(take(shares, a, 8)).toHaveLength(6);
    expect(told).toEqual(['a share', 'a share']);
    expect(take(shares, b)).toHaveLength(1);
    expect(shares.held).toBe(7);
  });

  it('is taken back from who has the most, the newest first, until all have an equal part', () => {
    const shares = share();
    take(shares, a, 6);
    take(shares, b, 6);
    expect(take(shares, c, 6)).toHaveLength(4);
    expect(ended.slice(0, 4)).toEqual(['a5 full', 'b5 full', 'a4 full', 'b4 full']);
    expect(shares.held).toBe(12);
  });

  it('is taken back first where it is idle, the oldest of it, and else where it is large', () => {
    const shares = share();
    const claims = [1, 2, 2, 1].map((amount, index) =>
      shares.take(a, { amount, end: () => ended.push(`a${index}`), isIdle: () => index === 3 }),
    );
    expect(claims).not.toContain(undefined);
    claims[0]?.set(5);
    expect(ended).toEqual(['a3', 'a0']);
  });

  it('is not taken back where it cannot be: each may have half of what the others leave', () => {
    const shares = share({ atLimit: 'refused' });
    const taken = [a, b, c].map((who) => take(shares, who, 7).length);
    expect(taken).toEqual([6, 3, 1]);
    expect([...new Set(told)]).toEqual(['a share', 'b share', 'c share']);
    expect(['d', 'e', 'f'].map((key) => take(shares, client(key)).length)).toEqual([1, 1, 0]);
    expect([ended.at(-1), told.at(-1)]).toEqual(['f0 full', 'f full']);
  });

  it('is taken back where it is idle, of who has the most, although the rest cannot be', () => {
    const shares = share({ atLimit: 'refused' });
    const idle = new Set<string>();
    const one = (who: ClientIdentity, name: string, displaces = true): Claim | undefined =>
      shares.take(who, {
        amount: 2,
        displaces,
        isIdle: () => idle.has(name),
        end: (why) => ended.push(`${name} ${why}`),
      });
    for (const name of ['a0', 'a1', 'a2', 'b0', 'b1', 'b2']) {
      expect(one(name.startsWith('a') ? a : b, name)).toBeDefined();
      idle.add(name);
    }
    expect(one(c, 'c0', false)).toBeUndefined();
    expect([one(c, 'c1'), one(c, 'c2')]).not.toContain(undefined);
    expect(one(c, 'c3')).toBeUndefined();
    expect(ended).toEqual(['c0 full', 'a0 full', 'b0 full', 'c3 share']);
    expect([one(a, 'a3')?.held, ended.at(-1)]).toEqual([2, 'a1 share']);
  });

  it('has a part for administrators, who have no share and lose nothing to others', () => {
    const shares = share({ reserve: 2 });
    take(shares, a, 6);
    take(shares, b, 6);
    expect(shares.held).toBe(10);
    expect(take(shares, administrator, 2)).toHaveLength(2);
    expect(shares.held).toBe(12);
    expect(take(shares, administrator, 10)).toHaveLength(10);
    expect(take(shares, c)).toEqual([]);
    expect(take(shares, administrator)).toEqual([]);
  });

  it('is for all together where clients cannot be told apart', () => {
    const shares = share({ reserve: 2 });
    expect(take(shares, everybody, 12)).toHaveLength(10);
  });

  it('is less for all clients that cannot be identified than for one other', () => {
    const shares = share({ total: 24 });
    take(shares, a, 12);
    expect(take(shares, client(UNIDENTIFIED), 12)).toHaveLength(6);
    expect(take(shares, b, 12)).toHaveLength(8);
    expect(ended.filter((each) => each.startsWith(UNIDENTIFIED)).length).toBeGreaterThan(6);
  });

  it('is never less than its floor, as long as there is any', () => {
    const shares = share({ floor: 4 });
    for (const key of 'abcdef') take(shares, client(key), 2);
    expect(take(shares, client('a'), 2)).toHaveLength(0);
    expect(shares.held).toBe(12);
  });

  it('is given back once, and then nothing is kept of its client', () => {
    const shares = share();
    const [claim] = take(shares, a);
    claim?.release();
    claim?.release();
    claim?.set(5);
    expect(shares.held).toBe(0);
    expect(take(shares, b, 6)).toHaveLength(6);
  });

  it('is waited for in turns: a client that asks often delays only itself', () => {
    const shares = share({ total: 2, atLimit: 'waits' });
    const order: string[] = [];
    const claims: Claim[] = [];
    const asked = [a, a, a, b, c];
    for (const who of asked) {
      shares.wait(who, (claim) => {
        claims.push(claim);
        order.push(who.key);
      });
    }
    while (order.length < asked.length) claims.shift()?.release();
    expect(order.slice(0, 4).sort()).toEqual(['a', 'a', 'b', 'c']);
  });

  it('is waited for until that is given up', () => {
    const shares = share({ total: 1, atLimit: 'waits' });
    const [claim] = take(shares, a);
    const granted: string[] = [];
    const giveUp = shares.wait(b, () => granted.push('b'));
    let next: Claim | undefined;
    shares.wait(c, (made) => (next = made));
    giveUp();
    giveUp();
    claim?.release();
    expect([granted, shares.held]).toEqual([[], 1]);
    next?.release();
    expect(shares.held).toBe(0);
  });
});
