import { quoteText } from '@wins/base';
import {
  advapi32,
  DACL_SECURITY_INFORMATION,
  PROTECTED_DACL_SECURITY_INFORMATION,
} from '../win32/advapi32.js';
import { call } from '../win32/calls/call.js';
import { openFile } from '../win32/files.js';
import { CREATE_NEW, GENERIC_WRITE, kernel32 } from '../win32/kernel32.js';
import { securityAttributes, descriptorFromText } from './file-security.js';
import { processAccount, type ProcessAccount } from './process-account.js';

/**
 * Makes an empty file that SYSTEM, administrators and this account alone may open, whatever its folder gives to others; permission bits for
 * everyone may be added.
 *
 * @throws WindowsError `alreadyExists`, `notFound`, `accessDenied`.
 */
export function createPrivateFile(file: string, mode = 0o600): void {
  createFile(file, listFor(mode, false));
}

/** Makes an empty file, or fails when it is there. @throws WindowsError */
export function createFile(file: string, security: Buffer): void {
  const opening = { access: GENERIC_WRITE, share: 0, security, disposition: CREATE_NEW };
  openFile(`cannot create the file ${quoteText(file)}`, file, opening).close();
}

/** Makes a folder, or fails when it is there. @throws WindowsError */
export function createFolder(folder: string, security: Buffer): void {
  call(
    `cannot create the folder ${quoteText(folder)}`,
    kernel32.CreateDirectoryW,
    folder,
    security,
  );
}

/** Gives a file or folder the list for permission bits, and nothing of the folder above. @throws WindowsError */
export function setMode(place: string, mode: number, isFolder: boolean): void {
  const information = DACL_SECURITY_INFORMATION | PROTECTED_DACL_SECURITY_INFORMATION;
  setSecurity(place, information, planFileSecurity(mode, processAccount(), isFolder));
}

/** Writes the parts of a security descriptor that `information` names. @throws WindowsError */
export function setSecurity(place: string, information: number, sddl: string): void {
  const tried = `cannot set the access list of ${quoteText(place)}`;
  const descriptor = descriptorFromText(sddl);
  call(tried, advapi32.SetFileSecurityW, place, information >>> 0, descriptor);
}

/** SECURITY_ATTRIBUTES for permission bits. */
export function listFor(mode: number, isFolder: boolean): Buffer {
  return securityAttributes(descriptorFromText(planFileSecurity(mode, processAccount(), isFolder)));
}

const READ = 4;
const WRITE = 2;
const EXECUTE = 1;

/**
 * The security descriptor for permission bits of POSIX. SYSTEM and administrators may do everything, as root may elsewhere, and an
 * account without their rights as well with what is its own. The last three bits are for everyone. Those of the group grant nothing:
 * the group of a service is SYSTEM. Nothing is taken over from the folder above, and what is made in a folder does not get the bits for
 * everyone. Pure.
 */
export function planFileSecurity(
  mode: number,
  { user, isPrivileged }: ProcessAccount,
  isFolder: boolean,
): string {
  const inherited = isFolder ? 'OICI' : '';
  const full = (sid: string): string => `(A;${inherited};FA;;;${sid})`;
  const everyone = [
    (mode & READ) === 0 ? '' : 'FR',
    // An account that may change the content of a folder may remove it, which is DC.
    (mode & WRITE) === 0 ? '' : `FW${isFolder ? 'DC' : ''}`,
    (mode & EXECUTE) === 0 ? '' : 'FX',
  ].join('');
  const owner = isPrivileged ? 'O:BA' : '';
  const own = isPrivileged ? '' : full(user);
  const others = everyone === '' ? '' : `(A;;${everyone};;;WD)`;
  return `${owner}D:P${full('SY')}${full('BA')}${own}${others}`;
}
