import { quoteText } from '@wins/base';
import {
  advapi32,
  DACL_SECURITY_INFORMATION,
  GROUP_SECURITY_INFORMATION,
  OWNER_SECURITY_INFORMATION,
  SE_FILE_OBJECT,
  type LocalMemory,
} from '../win32/advapi32.js';
import { call, checkStatus, openFile } from '../win32/calls/call.js';
import { loadKoffi } from '../win32/calls/system-library.js';
import {
  FILE_FLAG_BACKUP_SEMANTICS,
  kernel32,
  READ_CONTROL,
  type Handle,
} from '../win32/kernel32.js';
import { SECURITY_ATTRIBUTES } from '../win32/structures.js';

const SDDL_REVISION_1 = 1;

/**
 * Returns owner, group and access list of a file or folder, as SDDL. Follows a link.
 *
 * @throws WindowsError `notFound`, `accessDenied`, `unavailable`.
 */
export function fileSecurity(path: string): string {
  const tried = `cannot read the access list of ${path}`;
  using file = openFile(tried, path, { access: READ_CONTROL, flags: FILE_FLAG_BACKUP_SEMANTICS });
  return handleSecurity(file.value, tried);
}
/** The handle of the file, folder or pipe needs READ_CONTROL. */
export function handleSecurity(handle: Handle, tried: string, objectType = SE_FILE_OBJECT): string {
  const wanted =
    OWNER_SECURITY_INFORMATION | GROUP_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION;
  const out: [LocalMemory | null] = [null];
  const { GetSecurityInfo } = advapi32;
  const status = GetSecurityInfo(handle, objectType, wanted, null, null, null, null, out);
  checkStatus(tried, 'GetSecurityInfo', status);
  return takeLocal(out, (descriptor) => descriptorText(descriptor, wanted, tried));
}

/** @throws WindowsError `invalidArgument` for text that is not SDDL. */
export function descriptorFromText(sddl: string): Buffer {
  const out: [LocalMemory | null] = [null];
  const sizeBytes: [number] = [0];
  const tried = `cannot read the security descriptor ${quoteText(sddl)}`;
  const { ConvertStringSecurityDescriptorToSecurityDescriptorW: convert } = advapi32;
  call(tried, convert, sddl, SDDL_REVISION_1, out, sizeBytes);
  return takeLocal(out, (memory) =>
    Buffer.from(loadKoffi().decode(memory, 'uint8_t', sizeBytes[0]) as Uint8Array),
  );
}

export function descriptorText(
  descriptor: LocalMemory | Buffer,
  information: number,
  tried: string,
): string {
  const out: [LocalMemory | null] = [null];
  const { ConvertSecurityDescriptorToStringSecurityDescriptorW: convert } = advapi32;
  call(tried, convert, descriptor, SDDL_REVISION_1, information, out, [0]);
  return takeText(out);
}

/** Reads the text that a call allocated, and frees it. */
export function takeText(out: readonly [LocalMemory | null]): string {
  return takeLocal(out, (memory) => loadKoffi().decode(memory, 'char16_t', -1) as string);
}

function takeLocal<T>(
  [memory]: readonly [LocalMemory | null],
  read: (memory: LocalMemory) => T,
): T {
  if (memory === null) throw new RangeError('the system is out of memory');
  try {
    return read(memory);
  } finally {
    kernel32.LocalFree(memory);
  }
}

/** Returns SECURITY_ATTRIBUTES, followed by the descriptor. Without a descriptor, the account's default applies. */
export function securityAttributes(descriptor?: Buffer, isInheritable = false): Buffer {
  const nLength = SECURITY_ATTRIBUTES.sizeBytes;
  const fields = { nLength, bInheritHandle: isInheritable ? 1 : 0 };
  const memory = SECURITY_ATTRIBUTES.create(fields, descriptor?.length);
  if (descriptor !== undefined) {
    descriptor.copy(memory, nLength);
    const lpSecurityDescriptor = loadKoffi().address(memory) + BigInt(nLength);
    SECURITY_ATTRIBUTES.write(memory, { lpSecurityDescriptor });
  }
  return memory;
}
