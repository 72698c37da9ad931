import { whoMayReplace, whoMayWrite } from './who-may-write.js';

const USER = 'S-1-5-21-1-2-3-1001';
const INSTALLER = 'S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464';

describe('whoMayWrite', () => {
  it.each([
    ['a program of the system', `O:${INSTALLER}D:PAI(A;;FA;;;${INSTALLER})(A;;0x1200a9;;;BU)`],
    ['what the administrators alone may open', 'O:BAD:P(A;OICI;FA;;;BA)(A;OICI;FA;;;SY)'],
    ['a folder whose creators own what they make', 'O:SYD:(A;;FA;;;SY)(A;OICIIO;GA;;;CO)'],
    ['what the built-in Administrator owns', 'O:LAD:(A;;FA;;;BA)'],
    ['what a trusted owner keeps rights on', 'O:SYD:(A;;FA;;;OW)(A;;FA;;;SY)'],
    ['what users are denied', 'O:SYD:(D;;FA;;;BU)(A;;FR;;;BU)'],
  ])('names nobody for %s', (_what, sddl) => {
    expect(whoMayWrite(sddl)).toEqual([]);
  });

  it.each([
    ['write data', 'O:SYD:(A;;0x2;;;BU)', ['S-1-5-32-545']],
    ['append', 'O:SYD:(A;;0x4;;;BU)', ['S-1-5-32-545']],
    ['write extended attributes', 'O:SYD:(A;;0x10;;;BU)', ['S-1-5-32-545']],
    ['make it a link', 'O:SYD:(A;;0x100;;;BU)', ['S-1-5-32-545']],
    ['remove what is in it', 'O:SYD:(A;;0x40;;;BU)', ['S-1-5-32-545']],
    ['delete it', 'O:SYD:(A;;SD;;;BU)', ['S-1-5-32-545']],
    ['change the list', 'O:SYD:(A;;WD;;;BU)', ['S-1-5-32-545']],
    ['take it over', 'O:SYD:(A;;WO;;;BU)', ['S-1-5-32-545']],
    ['do everything', 'O:SYD:(A;;GA;;;AU)', ['S-1-5-11']],
    ['write in general', 'O:SYD:(A;;GW;;;AU)', ['S-1-5-11']],
    ['write by inheritance', 'O:SYD:(A;ID;0x1301bf;;;AU)', ['S-1-5-11']],
    ['write on a condition', 'O:SYD:(XA;;FW;;;WD;(@User.x==1))', ['S-1-1-0']],
    ['write though they are denied', 'O:SYD:(D;;FW;;;BU)(A;;FW;;;BU)', ['S-1-5-32-545']],
    ['own it', `O:${USER}D:(A;;FA;;;SY)`, [USER]],
    ['own it and write', `O:${USER}D:(A;;FA;;;${USER})(A;;FW;;;WD)`, [USER, 'S-1-1-0']],
    ['do anything for want of a list', 'O:SYD:NO_ACCESS_CONTROL', ['S-1-1-0']],
    ['be an owner that is not told', 'D:(A;;FA;;;SY)', ['S-1-1-0']],
    ['write as administrators of a domain', 'O:SYD:(A;;FA;;;DA)', ['DA']],
  ])('names those who may %s', (_what, sddl, names) => {
    expect(whoMayWrite(sddl)).toEqual(names);
  });

  it('trusts whom it is told to trust', () => {
    expect(whoMayWrite(`O:${USER}D:(A;;FA;;;${USER})`, [USER])).toEqual([]);
  });

  it('refuses what is no descriptor', () => {
    expect(() => whoMayWrite('everyone')).toThrow(/everyone/);
  });
});

describe('whoMayReplace', () => {
  it('does not mind those who may make folders in the root of a drive', () => {
    const root = 'O:BAD:(A;OICI;FA;;;BA)(A;OICIIO;SDGXGWGR;;;AU)(A;;LC;;;AU)(A;OICI;0x1200a9;;;BU)';
    expect(whoMayReplace(root)).toEqual([]);
    expect(whoMayWrite(root)).toEqual(['S-1-5-11']);
  });

  it.each(['DT', 'SD', 'WD', 'WO', 'GA'])('names those who have %s', (right) => {
    expect(whoMayReplace(`O:SYD:(A;;${right};;;BU)`)).toEqual(['S-1-5-32-545']);
  });
});
