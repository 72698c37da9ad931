import fc from 'fast-check';
import { SilenceOrder, type Silent } from './silence-order.js';

describe('the order of silence', () => {
  it('equals that of a list to whose end each member moves that was heard', () => {
    const move = fc.record({ member: fc.nat(5), isHeard: fc.boolean() });
    fc.assert(
      fc.property(fc.array(move, { maxLength: 60 }), (moves) => {
        const members = Array.from({ length: 6 }, (): Silent => ({
          longerSilent: undefined,
          shorterSilent: undefined,
        }));
        const order = new SilenceOrder<Silent>();
        let list: Silent[] = [];
        for (const { member: index, isHeard } of moves) {
          const member = members[index];
          if (member === undefined) continue;
          list = list.filter((other) => other !== member);
          if (isHeard) list.push(member);
          if (isHeard) order.heard(member);
          else order.delete(member);
          expect(order.longest).toBe(list[0]);
        }
        for (const member of list) {
          expect(order.longest).toBe(member);
          order.delete(member);
        }
        expect(order.longest).toBeUndefined();
        expect(
          members.every((member) => Object.values(member).every((link) => link === undefined)),
        ).toBe(true);
      }),
    );
  });
});
