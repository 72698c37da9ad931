import { grantsTheSame, parseSecurityDescriptor } from './security-descriptor.js';
import { TextError } from '../text/text-error.js';

describe('a security descriptor', () => {
  it('is read with its owner, its flags, and each entry', () => {
    expect(
      parseSecurityDescriptor(
        'O:SYG:BAD:PAI(A;OICI;FA;;;SY)(D;IO;0x116;;;S-1-5-21-1-2-3-1001)S:AI',
      ),
    ).toEqual({
      owner: 'S-1-5-18',
      group: 'S-1-5-32-544',
      isProtected: true,
      hasAudit: true,
      entries: [
        { type: 'A', flags: ['CI', 'OI'], rights: 0x1f01ff, sid: 'S-1-5-18' },
        { type: 'D', flags: ['IO'], rights: 0x116, sid: 'S-1-5-21-1-2-3-1001' },
      ],
    });
  });

  it('may have an entry with a condition, parentheses and colons and all', () => {
    const text = 'D:(XA;;FX;;;S-1-1-0;(@User.Title=="D:(x" || (Member_of {SID(BA)})))(A;;FR;;;BU)';
    const { entries } = parseSecurityDescriptor(text.replace('(x', 'x'));
    expect(entries?.map(({ type, sid }) => [type, sid])).toEqual([
      ['XA', 'S-1-1-0'],
      ['A', 'S-1-5-32-545'],
    ]);
  });

  it.each([
    ['no list', 'O:SY', undefined],
    ['no list, said aloud', 'D:NO_ACCESS_CONTROL', undefined],
    ['an empty one', 'D:', 0],
    ['an empty, protected one', 'D:P', 0],
    ['one of two', 'D:(A;;GA;;;BA)(A;;GA;;;SY)', 2],
  ])('tells %s', (_what, sddl, count) => {
    expect(parseSecurityDescriptor(sddl).entries?.length).toBe(count);
  });

  it.each([
    ['nonsense', /its parts/],
    ['D:(A;;GA;;;BA)D:(A;;GA;;;WD)', /at most once/],
    ['X:BA', /its parts/],
    ['D:(A;;GA;;;BA', /parenthesis/],
    ['D:(A;;GA;;;BA))', /parenthesis/],
    ['D:(A;;GA;;;BA)P', /parenthesis/],
    ['D:Q(A;;GA;;;BA)', /list of flags/],
    ['D:NO_ACCESS_CONTROL(A;;GA;;;BA)', /and entries/],
    ['D:(Q;;GA;;;BA)', /not an access type/],
    ['D:(A;Q;GA;;;BA)', /list of flags/],
    ['D:(A;;GAX;;;BA)', /list of rights/],
    ['D:(A;;QQ;;;BA)', /list of rights/],
    ['D:(A;;0x1ffffffff;;;BA)', /list of rights/],
    ['D:(A;;9999999999;;;BA)', /list of rights/],
    ['D:(A;;010;;;BA)', /list of rights/],
    ['D:(A;;GA;;;QQ)', /account/],
    ['D:(A;;GA;;;)', /account/],
    ['D:(A;;GA)', /account/],
    ['O:S-1-5-x', /account/],
    ['D:(A;;GA;;;S-1-5-4294967296)', /account/],
    ['D:(A;;GA;;;S-1-5-032-544)', /account/],
    ['D:(A;;GA;;;S-1-05-18)', /account/],
    ['D:(A;;GA;;;S-1-281474976710656-1)', /account/],
    [`D:${'(A;;GA;;;BA)'.repeat(6000)}`, /72002 characters/],
  ])('that reads %.40s is refused', (sddl, message) => {
    expect(() => parseSecurityDescriptor(sddl)).toThrow(message);
    expect(() => parseSecurityDescriptor(sddl)).toThrow(TextError);
  });
});

describe('two security descriptors', () => {
  const same = (a: string, b: string): boolean =>
    grantsTheSame(parseSecurityDescriptor(a), parseSecurityDescriptor(b));

  it.each([
    ['aliases and SIDs', 'D:(A;;FA;;;BA)', 'D:(A;;FA;;;S-1-5-32-544)'],
    ['generic and file rights', 'D:P(A;;GA;;;BA)(A;;GA;;;SY)', 'D:P(A;;FA;;;BA)(A;;0x1f01ff;;;SY)'],
    ['GRGW and what they stand for', 'D:(A;;GRGW;;;AU)', 'D:(A;;0x12019f;;;AU)'],
    ['the order among those who may', 'D:(A;;FA;;;BA)(A;;FR;;;SY)', 'D:(A;;FR;;;SY)(A;;FA;;;BA)'],
    ['protection, owner and group', 'O:SYG:SYD:P(A;;FA;;;BA)', 'O:BAD:(A;;FA;;;BA)'],
  ])('grant the same but for %s', (_what, a, b) => {
    expect(same(a, b)).toBe(true);
  });

  it.each([
    ['an entry more', 'D:(A;;FA;;;BA)', 'D:(A;;FA;;;BA)(A;;FR;;;WD)'],
    ['an entry twice', 'D:(A;;FA;;;BA)', 'D:(A;;FA;;;BA)(A;;FA;;;BA)'],
    ['other rights', 'D:(A;;GA;;;BA)', 'D:(A;;GRGW;;;BA)'],
    ['another account', 'D:(A;;GA;;;BA)', 'D:(A;;GA;;;BU)'],
    ['allowing or denying', 'D:(A;;GA;;;BA)', 'D:(D;;GA;;;BA)'],
    ['when they deny', 'D:(D;;GW;;;AU)(A;;GA;;;BA)', 'D:(A;;GA;;;BA)(D;;GW;;;AU)'],
    ['inheritance', 'D:(A;;GA;;;BA)', 'D:(A;OI;GA;;;BA)'],
    ['an empty list and none', 'D:', 'D:NO_ACCESS_CONTROL'],
  ])('differ in %s', (_what, a, b) => {
    expect(same(a, b)).toBe(false);
  });
});
