import type { ProcessAccount } from './process-account.js';
import { whoMayWrite } from './who-may-write.js';

/**
 * The security descriptor of a private folder that this account makes: SYSTEM and administrators may use it, and an account
 * without their rights its own. One that has them is one of them and not named: another administrator, or the daemon as SYSTEM,
 * could not tell it from a stranger. Pure.
 */
export function privateFolderSecurity({ user, isPrivileged }: ProcessAccount): string {
  const list = 'D:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)';
  return isPrivileged ? `O:BA${list}` : `${list}(A;OICI;FA;;;${user})`;
}

/**
 * What an administrator can do about a folder that others can change: whether these are administrators too is for him to know.
 * Pure.
 *
 * @returns empty when no one else can change it.
 * @throws WindowsError `invalidArgument` for text that is no SDDL.
 */
export function privateFolderMending(folder: string, sddl: string, account: string): string {
  const others = whoMayWrite(sddl, { trusted: [account] });
  if (others.length === 0) return '';
  const icacls = `icacls "${folder}"`;
  const names = others.map((sid) => `*${sid}`).join(' ');
  return `if that is an administrator, ${icacls} /setowner *S-1-5-32-544 and ${icacls} /remove ${names} fix it; if not, remove the folder`;
}
