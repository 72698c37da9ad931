import { planFileSecurity } from './private-file.js';
import { judgeStep, privateFolderMending } from './trusted-file-judgement.js';

const SYSTEM = 'S-1-5-18';
const ADMINISTRATOR = 'S-1-5-21-1-2-3-1001';
const USER = 'S-1-5-21-1-2-3-1002';

/** Without an owner in the descriptor, the system makes the creating account the owner. */
function madeBy(user: string, isPrivileged: boolean): string {
  const sddl = planFileSecurity(0o700, { user, isPrivileged }, true);
  return sddl.startsWith('O:') ? sddl : `O:${user}${sddl}`;
}

function judgedBy(account: string, sddl: string): string | undefined {
  const path = 'C:\\state';
  const facts = { path, finalPath: path, isReparsePoint: false, isDirectory: true, sddl };
  return judgeStep(facts, 'folder', [account])?.found;
}

describe('a private folder', () => {
  it.each([SYSTEM, ADMINISTRATOR, 'S-1-5-21-1-2-3-1003'])(
    'that an administrator or SYSTEM made is trusted by %s',
    (account) => {
      expect(judgedBy(account, madeBy(ADMINISTRATOR, true))).toBeUndefined();
      expect(judgedBy(account, madeBy(SYSTEM, true))).toBeUndefined();
    },
  );

  it('that a user made is his own, and nobody else trusts it', () => {
    expect(judgedBy(USER, madeBy(USER, false))).toBeUndefined();
    expect(judgedBy(SYSTEM, madeBy(USER, false))).toBe(`${USER} can change it`);
  });
});

describe('the way to mend a private folder', () => {
  it('gives it to the administrators and takes it from those who could change it', () => {
    const sddl = `O:${USER}D:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;OICI;FA;;;${ADMINISTRATOR})`;
    const text = privateFolderMending('C:\\a b', sddl, SYSTEM);
    expect(text).toContain('icacls "C:\\a b" /setowner *S-1-5-32-544 ');
    expect(text).toContain(`icacls "C:\\a b" /remove *${USER} *${ADMINISTRATOR} `);
    expect(privateFolderMending('C:\\a', madeBy(ADMINISTRATOR, true), SYSTEM)).toBe('');
  });
});
