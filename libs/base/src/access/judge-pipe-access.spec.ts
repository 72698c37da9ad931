import { ADMINISTRATORS_AND_SYSTEM, judgePipeAccess } from './judge-pipe-access.js';

const SERVICE = 'S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464';
const ACCOUNT = 'S-1-5-21-1-2-3-1001';
const BASE = ADMINISTRATORS_AND_SYSTEM;

describe('who may open the pipes of the daemon', () => {
  it.each([
    ['the default', BASE],
    ['an owner that clients know', `O:SYG:BA${BASE}`],
    ['one service', `${BASE}(A;;0x12019b;;;${SERVICE})`],
    ['one account', `${BASE}(A;;0x12019b;;;${ACCOUNT})`],
    ['the virtual account of one pool of IIS', `${BASE}(A;;0x12019b;;;S-1-5-82-1-2-3-4-5)`],
    ['an account of Entra ID', `${BASE}(A;;0x12019b;;;S-1-12-1-1-2-3-4)`],
    ['everyone, for looking alone', `${BASE}(A;;FR;;;WD)`],
    ['everyone, of what would be made in it', `${BASE}(A;OICIIO;GA;;;WD)`],
    ['administrators by name', 'D:P(A;;GA;;;SY)(A;;GA;;;LA)'],
  ])('may be %s', (_what, sddl) => {
    expect(judgePipeAccess(sddl)).toEqual({ doubts: [] });
  });

  it.each([
    ['WD', /everyone \(S-1-1-0\)/],
    ['AU', /every authenticated user/],
    ['AN', /anonymous/],
    ['BU', /every user of the host/],
    ['BG', /guests/],
    ['NU', /on the network/],
    ['IU', /at the console/],
    ['SU', /every service/],
    ['LS', /LOCAL SERVICE/],
    ['NS', /NETWORK SERVICE/],
    ['AC', /every app/],
    ['PU', /S-1-5-32-547, which is no administrator/],
    ['S-1-5-80-0', /every service/],
    ['S-1-5-93-2-2', /every user of a container/],
    ['S-1-5-21-1-2-3-513', /S-1-5-21-1-2-3-513, which/],
    ['S-1-5-21-1-2-3-515', /S-1-5-21-1-2-3-515, which/],
  ])('is doubtful when it is %s', (sid, who) => {
    for (const rights of ['GA', 'GW', '0x2', 'WD']) {
      const { fault, doubts } = judgePipeAccess(`${BASE}(A;;${rights};;;${sid})`);
      expect(fault).toBeUndefined();
      expect(doubts).toEqual([expect.stringMatching(who)]);
      expect(doubts[0]).toMatch(/^it lets .* control this host$/);
    }
  });

  it('is doubtful though somebody is denied first', () => {
    expect(judgePipeAccess(`D:P(D;;GA;;;BG)(A;;GA;;;SY)(A;;GA;;;WD)`).doubts).toHaveLength(1);
  });

  it('is doubtful when an account may serve the pipes, or only its domain knows it', () => {
    expect(judgePipeAccess(`${BASE}(A;;GA;;;${ACCOUNT})`).doubts).toEqual([
      `it lets ${ACCOUNT} serve the pipes, so clients in containers refuse them; use 0x12019b to read and write`,
    ]);
    expect(judgePipeAccess(`${BASE}(A;;0x12019b;;;DA)`).doubts).toEqual([
      'only a host of the same domain can resolve DA',
    ]);
  });

  it.each([
    ['Everyone', /^its parts must be/],
    ['BUILTIN\\Users', /^its parts must be/],
    ['(A;;GA;;;BA)', /^its parts must be/],
    ['D:P(A;;GA;;;XX)', /"XX" is not an account/],
    ['O:BA', /no access list/],
    ['D:NO_ACCESS_CONTROL', /no access list/],
    ['D:', /does not let SYSTEM/],
    [`D:P(A;;GA;;;${ACCOUNT})`, /does not let SYSTEM/],
    ['D:P(A;;GR;;;SY)(A;;FR;;;BA)', /does not let SYSTEM/],
    ['D:P(D;;GW;;;WD)(A;;GA;;;SY)', /does not let SYSTEM/],
    ['D:P(D;;GW;;;AU)(A;;GA;;;BA)', /does not let SYSTEM/],
    ['D:P(A;IO;GA;;;SY)', /does not let SYSTEM/],
    [`O:${ACCOUNT}${BASE}`, /its owner is/],
    [`${BASE}S:(AU;SA;GA;;;WD)`, /audit part/],
    ['D:P(XA;;GA;;;SY;(@User.a==1))', /type XA/],
    ['D:P (A;;GA;;;SY)', /flags|white space/],
    ['D:P(A; ;GA;;;SY)', /white space/],
    [`D:P${'(A;;GA;;;SY)'.repeat(801)}`, /801 entries/],
  ])('cannot be %.40s', (sddl, fault) => {
    expect(judgePipeAccess(sddl)).toEqual({
      fault: expect.stringMatching(fault) as string,
      doubts: [],
    });
  });

  it('lets SYSTEM serve by an entry that comes before one that denies', () => {
    expect(judgePipeAccess('D:(A;;GA;;;SY)(D;;GA;;;WD)').fault).toBeUndefined();
  });
});
