import { createConnectLimits } from './connect-limits.js';

describe('the rate of Connects that fail', () => {
  let now = 0;
  const limits = (): ReturnType<typeof createConnectLimits> =>
    createConnectLimits({ burst: 3, perSecond: 2 }, () => now);
  const times = (count: number, action: () => boolean): boolean[] =>
    Array.from({ length: count }, action);

  it('is a burst, and so many a second from then on', () => {
    const peer = limits().of('a');
    expect(times(4, () => peer.refuse())).toEqual([true, true, true, false]);
    now += 500;
    expect(times(2, () => peer.refuse())).toEqual([true, false]);
    now += 3_600_000;
    expect(times(4, () => peer.refuse())).toEqual([true, true, true, false]);
  });

  it('belongs to a peer, whatever share object it has', () => {
    const all = limits();
    const [first, second] = [all.of('a'), all.of('a')];
    expect([first.refuse(), second.refuse(), first.refuse(), second.refuse()]).toEqual([
      true,
      true,
      true,
      false,
    ]);
    expect(all.of('b').refuse()).toBe(true);
  });

  it('closes a port that fails, to that peer only, until time has passed', () => {
    const all = limits();
    for (let index = 0; index < 3; index += 1) all.of('a').fail(80);
    expect(all.of('a').mayDial(80)).toBe(false);
    expect(all.of('a').mayDial(81)).toBe(true);
    expect(all.of('b').mayDial(80)).toBe(true);
    now += 500;
    expect(all.of('a').mayDial(80)).toBe(true);
  });

  it('is not touched by dials that succeed', () => {
    const peer = limits().of('a');
    for (let index = 0; index < 1000; index += 1) expect(peer.mayDial(80)).toBe(true);
  });

  it('is one for all peers above some thousands, so that peers without end cost no memory', () => {
    const all = limits();
    for (let index = 0; index < 4096; index += 1) all.of(`${index}`).refuse();
    const late = Array.from({ length: 4 }, (_, index) => all.of(`late ${index}`).refuse());
    expect(late).toEqual([true, true, true, false]);
    now += 10_000;
    expect(all.of('later').refuse()).toBe(true);
    expect(times(3, () => all.of('later').refuse())).toEqual([true, true, false]);
  });
});
