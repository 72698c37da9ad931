import { DialSlots } from './dial-slots.js';

/** Dials that began, by peer and number, and the means to end and to take back each. */
function watched(slots: DialSlots) {
  const began: string[] = [];
  const givenUp: string[] = [];
  const done = new Map<string, () => void>();
  const dial = (peer: string, name: string): (() => void) =>
    slots.dial(peer, (over) => {
      began.push(name);
      done.set(name, over);
      return () => void givenUp.push(name);
    });
  return { began, givenUp, dial, end: (name: string) => done.get(name)?.() };
}

describe('the slots for dials', () => {
  it('are so many for one peer, and what waits begins in order', () => {
    const slots = new DialSlots(10, 2);
    const { began, dial, end } = watched(slots);
    for (const name of ['a1', 'a2', 'a3', 'a4']) dial('a', name);
    expect(began).toEqual(['a1', 'a2']);
    end('a2');
    expect(began).toEqual(['a1', 'a2', 'a3']);
    end('a2');
    expect(began).toEqual(['a1', 'a2', 'a3']);
  });

  it('are so many for all, and the next one goes to the peer with the fewest', () => {
    const slots = new DialSlots(2, 2);
    const { began, dial, end } = watched(slots);
    for (const name of ['a1', 'a2', 'a3', 'a4']) dial('a', name);
    dial('b', 'b1');
    dial('b', 'b2');
    dial('c', 'c1');
    for (const name of ['a1', 'a2', 'b1', 'c1', 'a3']) end(name);
    expect(began).toEqual(['a1', 'a2', 'b1', 'a3', 'c1', 'b2', 'a4']);
  });

  it('are free again when a dial is given up, and never taken by one that left while it waited', () => {
    const slots = new DialSlots(1, 1);
    const { began, givenUp, dial } = watched(slots);
    const leave = dial('a', 'a1');
    const leaveWaiting = dial('a', 'a2');
    dial('b', 'b1');
    leaveWaiting();
    leave();
    leave();
    expect(began).toEqual(['a1', 'b1']);
    expect(givenUp).toEqual(['a1']);
  });

  it('hold nothing of a peer that has none', () => {
    const slots = new DialSlots(1, 1);
    const { dial, end } = watched(slots);
    dial('a', 'a1');
    const leave = dial('b', 'b1');
    expect(slots.peerCount).toBe(2);
    leave();
    end('a1');
    dial('c', 'c1');
    end('c1');
    dial('c', 'c2');
    end('c2');
    expect(slots.peerCount).toBe(0);
  });

  it('begin any number of dials that are over at once', () => {
    const slots = new DialSlots(1, 1);
    const { dial, end } = watched(slots);
    dial('a', 'first');
    let begun = 0;
    for (let index = 0; index < 20_000; index += 1)
      slots.dial('a', (done) => {
        begun += 1;
        done();
        return () => undefined;
      });
    end('first');
    expect(begun).toBe(20_000);
  });
});
