import { quoteText } from '@wins/base';
import * as win32 from '../win32/advapi32.js';
import { call, openFile } from '../win32/calls/call.js';
import { CREATE_NEW, GENERIC_WRITE, kernel32 } from '../win32/kernel32.js';
import { securityAttributes, descriptorFromText } from './file-security.js';
import { processAccount, type ProcessAccount } from './process-account.js';

/**
 * Creates an empty file that only SYSTEM, administrators and this account may open. The file inherits no permissions
 * from its folder. `mode` may add permissions for everyone.
 *
 * @throws WindowsError `alreadyExists`, `notFound`, `accessDenied`.
 */
export function createPrivateFile(file: string, mode = 0o600): void {
  createFile(file, listFor(mode, false));
}

/** Fails when the file exists. */
export function createFile(file: string, security: Buffer): void {
  const opening = { access: GENERIC_WRITE, share: 0, security, disposition: CREATE_NEW };
  openFile(`cannot create the file ${quoteText(file)}`, file, opening).close();
}

export function createFolder(folder: string, security: Buffer): void {
  const tried = `cannot create the folder ${quoteText(folder)}`;
  call(tried, kernel32.CreateDirectoryW, folder, security);
}

/** Sets an access list that inherits nothing from the parent folder. */
export function setMode(location: string, mode: number, isFolder: boolean): void {
  const information = win32.DACL_SECURITY_INFORMATION | win32.PROTECTED_DACL_SECURITY_INFORMATION;
  setSecurity(location, information, planFileSecurity(mode, processAccount(), isFolder));
}

/** `information` selects the parts to write. */
export function setSecurity(location: string, information: number, sddl: string): void {
  const tried = `cannot set the access list of ${quoteText(location)}`;
  const descriptor = descriptorFromText(sddl);
  call(tried, win32.advapi32.SetFileSecurityW, location, information >>> 0, descriptor);
}

export function listFor(mode: number, isFolder: boolean): Buffer {
  return securityAttributes(descriptorFromText(planFileSecurity(mode, processAccount(), isFolder)));
}

const READ = 4;
const WRITE = 2;
const EXECUTE = 1;

/**
 * Translates POSIX permission bits to SDDL. SYSTEM, administrators and this account may do everything. The last three
 * bits apply to everyone; children do not inherit them. The group bits have no effect, because the group of a service
 * is SYSTEM.
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
    // An account that may change the content of a folder may also remove its children (DC).
    (mode & WRITE) === 0 ? '' : `FW${isFolder ? 'DC' : ''}`,
    (mode & EXECUTE) === 0 ? '' : 'FX',
  ].join('');
  const owner = isPrivileged ? 'O:BA' : '';
  const own = isPrivileged ? '' : full(user);
  const others = everyone === '' ? '' : `(A;;${everyone};;;WD)`;
  return `${owner}D:P${full('SY')}${full('BA')}${own}${others}`;
}
