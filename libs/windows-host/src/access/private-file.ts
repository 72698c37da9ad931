import { quoteText } from '@wins/wins-program';
import {
  advapi32,
  DACL_SECURITY_INFORMATION,
  PROTECTED_DACL_SECURITY_INFORMATION,
} from '../win32/advapi32.js';
import { call } from '../win32/calls/call.js';
import { openFile } from '../win32/files.js';
import { CREATE_NEW, GENERIC_WRITE, kernel32 } from '../win32/kernel32.js';
import { securityAttributes } from '../win32/security-attributes.js';
import { descriptorFromText } from './file-security.js';
import { planFileSecurity } from './plan-file-security.js';
import { processAccount } from './process-account.js';

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
  openFile(`made the file ${quoteText(file)}`, file, opening).close();
}

/** Makes a folder, or fails when it is there. @throws WindowsError */
export function createFolder(folder: string, security: Buffer): void {
  call(`made the folder ${quoteText(folder)}`, kernel32.CreateDirectoryW, folder, security);
}

/** Gives a file or folder the list for permission bits, and nothing of the folder above. @throws WindowsError */
export function setMode(place: string, mode: number, isFolder: boolean): void {
  const information = DACL_SECURITY_INFORMATION | PROTECTED_DACL_SECURITY_INFORMATION;
  setSecurity(place, information, planFileSecurity(mode, processAccount(), isFolder));
}

/** Writes the parts of a security descriptor that `information` names. @throws WindowsError */
export function setSecurity(place: string, information: number, sddl: string): void {
  const tried = `set the access list of ${quoteText(place)}`;
  const descriptor = descriptorFromText(sddl);
  call(tried, advapi32.SetFileSecurityW, place, information >>> 0, descriptor);
}

/** SECURITY_ATTRIBUTES for permission bits. */
export function listFor(mode: number, isFolder: boolean): Buffer {
  return securityAttributes(descriptorFromText(planFileSecurity(mode, processAccount(), isFolder)));
}
