import { planFileSecurity } from './private-file.js';

const SYSTEM = { user: 'S-1-5-18', isPrivileged: true };
const USER = { user: 'S-1-5-21-1-2-3-1001', isPrivileged: false };

it.each([
  [0o600, false, 'O:BAD:P(A;;FA;;;SY)(A;;FA;;;BA)'],
  [0o640, false, 'O:BAD:P(A;;FA;;;SY)(A;;FA;;;BA)'],
  [0o644, false, 'O:BAD:P(A;;FA;;;SY)(A;;FA;;;BA)(A;;FR;;;WD)'],
  [0o757, false, 'O:BAD:P(A;;FA;;;SY)(A;;FA;;;BA)(A;;FRFWFX;;;WD)'],
  [0o755, true, 'O:BAD:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;;FRFX;;;WD)'],
  [0o777, true, 'O:BAD:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;;FRFWDCFX;;;WD)'],
])('gives what mode %o grants, for a folder: %s', (mode, isFolder, sddl) => {
  expect(planFileSecurity(mode, SYSTEM, isFolder)).toBe(sddl);
});

it('lets an account without the rights of an administrator use what is its own', () => {
  expect(planFileSecurity(0o600, USER, false)).toBe(
    `D:P(A;;FA;;;SY)(A;;FA;;;BA)(A;;FA;;;${USER.user})`,
  );
});
