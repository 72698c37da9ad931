import { accessRights, parseSecurityDescriptor } from '@wins/wins-program';
import { descriptorFromText } from '../access/file-security.js';
import { setSecurity } from '../access/private-file.js';
import { processAccount } from '../access/process-account.js';
import { SYSTEM_ACCOUNTS } from '../access/who-may-write.js';
import * as win32 from '../win32/advapi32.js';
import { WindowsError } from '../windows-error.js';

/** What everyone gets, by the word for it; accounts are written as SIDs, whose names differ by language. */
const FOR_EVERYONE: Readonly<Record<string, string>> = {
  private: '',
  readable: 'FR',
  executable: 'FRFX',
};
const EVERYONE = 'S-1-1-0';
/**
 * The security descriptor for a word: administrators and SYSTEM may do all, and an account without their rights with what is its own.
 * `undefined` for text that is no word. Pure but for the account of this process.
 */
export function accessDescriptor(word: string, isFolder: boolean): string | undefined {
  const everyone = FOR_EVERYONE[word];
  if (everyone === undefined) return undefined;
  const { user, isPrivileged } = processAccount();
  const flags = isFolder ? 'OICI' : '';
  const full = (sid: string): string => `(A;${flags};FA;;;${sid})`;
  const rights = rightsOf(everyone, isFolder);
  const others = rights === '' ? '' : `(A;${flags};${rights};;;WD)`;
  const owner = isPrivileged ? 'O:BAG:SY' : '';
  return `${owner}D:PAI${full('BA')}${full('SY')}${isPrivileged ? '' : full(user)}${others}`;
}

/**
 * The word for a security descriptor, by what it gives to others than administrators and this account, or the descriptor itself when
 * no word says the same.
 */
export function accessOf(sddl: string, isFolder: boolean): string {
  const { owner, entries } = parseSecurityDescriptor(sddl);
  const known = [...SYSTEM_ACCOUNTS, processAccount().user];
  // Another owner could change the list; without one everyone may do all.
  if (owner === undefined || !known.includes(owner) || entries === undefined) return sddl;
  const others = entries.filter(({ sid }) => !known.includes(sid));
  if (others.some(({ type, sid }) => type !== 'A' || sid !== EVERYONE)) return sddl;
  const given = others.reduce((all, { rights }) => all | rights, 0);
  const word = Object.entries(FOR_EVERYONE).find(
    ([, rights]) => accessRights(rightsOf(rights, isFolder)) === given,
  );
  return word?.[0] ?? sddl;
}

/** Who may read a folder may look into it. */
function rightsOf(rights: string, isFolder: boolean): string {
  return isFolder && rights !== '' ? 'FRFX' : rights;
}

/** The descriptor for a word, or for what {@link accessOf} told instead. @throws WindowsError `invalidArgument`. */
export function descriptorOf(access: string, isFolder: boolean): Buffer {
  return descriptorFromText(accessDescriptor(access, isFolder) ?? access);
}

/** Gives a file or folder owner and access list. @throws WindowsError. */
export function setAccess(place: string, access: string, isFolder: boolean): void {
  const text = accessDescriptor(access, isFolder) ?? access;
  const { owner, group, isProtected } = parseSecurityDescriptor(text);
  const information =
    (owner === undefined ? 0 : win32.OWNER_SECURITY_INFORMATION) |
    (group === undefined ? 0 : win32.GROUP_SECURITY_INFORMATION) |
    win32.DACL_SECURITY_INFORMATION |
    (isProtected
      ? win32.PROTECTED_DACL_SECURITY_INFORMATION
      : win32.UNPROTECTED_DACL_SECURITY_INFORMATION);
  setSecurity(place, information, text);
}

/** What a room was asked that it does not do. */
export function refused(tried: string, found: string): WindowsError {
  return new WindowsError('invalidArgument', `${tried}: found ${found}`);
}
