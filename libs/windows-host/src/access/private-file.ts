import { quoteText } from '@wins/wins-program';
import { CREATE_NEW, files, GENERIC_WRITE } from '../win32/files.js';
import { check, INVALID_HANDLE_VALUE } from '../win32/kernel32.js';
import { OwnedHandle } from '../win32/calls/owned-handle.js';
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
  const { CreateFileW } = files();
  const attributes = listFor(mode, false);
  const handle = CreateFileW(file, GENERIC_WRITE, 0, attributes, CREATE_NEW, 0, 0);
  check(handle !== INVALID_HANDLE_VALUE, 'CreateFileW', `made the file ${quoteText(file)}`);
  new OwnedHandle(handle).close();
}

/** SECURITY_ATTRIBUTES for permission bits. */
export function listFor(mode: number, isFolder: boolean): Buffer {
  const descriptor = descriptorFromText(planFileSecurity(mode, processAccount(), isFolder));
  return securityAttributes({ descriptor, inheritable: false });
}
