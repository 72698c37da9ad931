import { canonicalPath } from '@wins/base';
import { type FileFacts, judgeStep, stepsTo } from './trusted-file-judgement.js';

const ME = 'S-1-5-21-1-2-3-1000';
const SAFE = 'O:BAG:SYD:(A;;FA;;;SY)(A;;FA;;;BA)(A;;0x1200a9;;;BU)';
/** Descriptor of the root of a drive, as Windows sets it up: everyone may create folders in it. */
const DRIVE =
  'O:S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464G:SYD:PAI(A;;LC;;;AU)(A;OICIIO;SDGXGWGR;;;AU)(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;OICI;0x1200a9;;;BU)';
/** Descriptor of ProgramData: everyone may create files and folders at any depth. */
const PROGRAM_DATA =
  'O:SYG:SYD:PAI(A;OICIIO;FA;;;CO)(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;OICI;0x1200a9;;;BU)(A;CI;DCLCRPCR;;;BU)';

function rule(
  wanted: Parameters<typeof judgeStep>[1],
  facts: Partial<FileFacts> = {},
): string | undefined {
  const path = facts.path ?? 'C:\\a\\x.exe';
  const all = {
    path,
    finalPath: `\\\\?\\${path}`,
    isReparsePoint: false,
    sddl: SAFE,
    isDirectory: wanted !== 'file',
    ...facts,
  };
  return judgeStep(all, wanted, [ME])?.rule;
}

describe('stepsTo', () => {
  it.each([
    ['C:\\a\\b.exe', ['C:\\', 'C:\\a', 'C:\\a\\b.exe']],
    ['C:\\b.exe', ['C:\\', 'C:\\b.exe']],
    ['C:\\', ['C:\\']],
  ])('goes down to %s', (path, steps) => {
    expect(stepsTo(canonicalPath(path, 'windows'))).toEqual(steps);
  });
});

describe('judgeStep', () => {
  it('trusts what only the system, administrators and this account can change', () => {
    expect(rule('file')).toBeUndefined();
    expect(rule('folder', { sddl: `${SAFE}(A;;FA;;;${ME})` })).toBeUndefined();
    expect(rule('ancestor', { path: 'C:\\', sddl: DRIVE })).toBeUndefined();
  });

  it('lets everybody make things further up, and nowhere near the program', () => {
    expect(rule('ancestor', { sddl: PROGRAM_DATA })).toBeUndefined();
    expect(rule('folder', { sddl: PROGRAM_DATA })).toBe('A7 writable by other users');
    expect(rule('folder', { path: 'C:\\', sddl: DRIVE })).toBe('A7 writable by other users');
  });

  it.each([
    ['O:BUD:(A;;FA;;;BA)', 'owned by users'],
    ['O:BAD:(A;;FA;;;BA)(A;;FA;;;WD)', 'full control for everyone'],
    ['O:BAD:(A;;FA;;;BA)(A;;SD;;;BU)', 'deleting'],
    ['O:BAD:(A;;FA;;;BA)(A;;WD;;;BU)', 'changing its access list'],
    ['O:BAD:(A;;FA;;;BA)(A;;DT;;;BU)', 'deleting what is in it'],
    ['O:BAD:NO_ACCESS_CONTROL', 'no access list'],
  ])('refuses %s at every step (%s)', (sddl) => {
    for (const wanted of ['ancestor', 'folder', 'file'] as const) {
      expect(rule(wanted, { sddl })).toBe('A7 writable by other users');
    }
  });

  it('refuses links, and a path that opens something else', () => {
    expect(rule('ancestor', { isReparsePoint: true })).toBe('A7 link or junction');
    for (const finalPath of [
      'D:\\a\\x.exe',
      '\\\\?\\D:\\a\\x.exe',
      '\\\\?\\UNC\\server\\a\\x.exe',
      '\\\\?\\Volume{0}\\a\\x.exe',
      '\\\\?\\C:\\a-evil\\x.exe',
      '\\\\?\\C:\\a\\x.ex\u00e9',
    ]) {
      expect(rule('file', { finalPath })).toBe('A7 another path');
    }
    expect(rule('file', { finalPath: '\\\\?\\c:\\A\\X.EXE' })).toBeUndefined();
    const kelvin = { path: 'C:\\a\\k.exe', finalPath: '\\\\?\\C:\\a\\\u212a.exe' };
    expect(rule('file', kelvin)).toBe('A7 another path');
  });

  it('tells files and folders apart', () => {
    expect(rule('file', { isDirectory: true })).toBe('A7 not a regular file');
    expect(rule('folder', { isDirectory: false })).toBe('A7 not a regular file');
  });
});
