import { quoteText } from '@wins/wins-program';
import { systemError } from '../windows-error.js';
import {
  FILE_FLAG_BACKUP_SEMANTICS,
  FILE_SHARE_ALL,
  files,
  OPEN_EXISTING,
  READ_CONTROL,
} from '../win32/files.js';
import { check, INVALID_HANDLE_VALUE, kernel32, type Handle } from '../win32/kernel32.js';
import { OwnedHandle } from '../win32/calls/owned-handle.js';
import {
  DACL_SECURITY_INFORMATION,
  GROUP_SECURITY_INFORMATION,
  OWNER_SECURITY_INFORMATION,
  SDDL_REVISION_1,
  SE_FILE_OBJECT,
  security,
  type LocalMemory,
} from '../win32/security.js';

/**
 * The security descriptor of a file or folder as SDDL: owner, group and access list, for {@link whoMayWrite}. A link is followed.
 *
 * @throws WindowsError `notFound`; `accessDenied` when this user may not even read it; `unavailable` on other systems.
 */
export function fileSecurity(path: string): string {
  const tried = `read the access list of ${path}`;
  const file = files().CreateFileW(
    path,
    READ_CONTROL,
    FILE_SHARE_ALL,
    null,
    OPEN_EXISTING,
    FILE_FLAG_BACKUP_SEMANTICS,
    0,
  );
  check(file !== INVALID_HANDLE_VALUE, 'CreateFileW', tried);
  const owned = new OwnedHandle(file);
  try {
    return handleSecurity(owned.value, tried);
  } finally {
    owned.close();
  }
}

/**
 * As {@link fileSecurity}, of an open file, folder or pipe. Its handle needs READ_CONTROL, which every way of reading has.
 *
 * @param tried begins the message of an error: what was tried and on what.
 * @throws WindowsError
 */
export function handleSecurity(handle: Handle, tried: string, objectType = SE_FILE_OBJECT): string {
  const wanted =
    OWNER_SECURITY_INFORMATION | GROUP_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION;
  const out: [LocalMemory | null] = [null];
  const errorNumber = security().GetSecurityInfo(
    handle,
    objectType,
    wanted,
    null,
    null,
    null,
    null,
    out,
  );
  if (errorNumber !== 0 || out[0] === null)
    throw systemError(tried, { functionName: 'GetSecurityInfo', errorNumber });
  try {
    return descriptorText(out[0], wanted, tried);
  } finally {
    kernel32().LocalFree(out[0]);
  }
}

/**
 * The binary form of a security descriptor.
 *
 * @throws WindowsError `invalidArgument` when the system does not understand the text.
 */
export function descriptorFromText(sddl: string): Buffer {
  const out: [LocalMemory | null] = [null];
  const sizeBytes: [number] = [0];
  const tried = `read the security descriptor ${quoteText(sddl)}`;
  const { ConvertStringSecurityDescriptorToSecurityDescriptorW: convert, koffi } = security();
  check(
    convert(sddl, SDDL_REVISION_1, out, sizeBytes) !== 0,
    'ConvertStringSecurityDescriptorToSecurityDescriptorW',
    tried,
  );
  try {
    return Buffer.from(koffi.decode(out[0], 'uint8_t', sizeBytes[0]) as Uint8Array);
  } finally {
    kernel32().LocalFree(out[0]);
  }
}

/**
 * The SDDL of a binary security descriptor, as the system writes it.
 *
 * @throws WindowsError
 */
export function descriptorText(
  descriptor: LocalMemory | Buffer,
  information: number,
  tried: string,
): string {
  const out: [LocalMemory | null] = [null];
  const length: [number] = [0];
  const { ConvertSecurityDescriptorToStringSecurityDescriptorW: convert, koffi } = security();
  check(
    convert(descriptor, SDDL_REVISION_1, information, out, length) !== 0,
    'ConvertSecurityDescriptorToStringSecurityDescriptorW',
    tried,
  );
  try {
    const text = koffi.decode(out[0], 'char16_t', length[0]) as string;
    const end = text.indexOf('\0');
    return end === -1 ? text : text.slice(0, end);
  } finally {
    kernel32().LocalFree(out[0]);
  }
}
