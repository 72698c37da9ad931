import { loadKoffi } from './calls/system-library.js';
import { SECURITY_ATTRIBUTES } from './structures.js';

/**
 * SECURITY_ATTRIBUTES with the descriptor that they point to in the same memory. Without one, the new object gets the default
 * of this account.
 */
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
