import { loadKoffi } from './calls/system-library.js';

const SIZE_BYTES = 24;

/**
 * SECURITY_ATTRIBUTES with the descriptor that they point to in the same memory. Without one, the new object gets the default
 * of this account.
 * https://learn.microsoft.com/windows/win32/api/wtypesbase/ns-wtypesbase-security_attributes
 */
export function securityAttributes(of: {
  readonly descriptor?: Buffer;
  readonly inheritable: boolean;
}): Buffer {
  const { descriptor = Buffer.alloc(0), inheritable } = of;
  const bytes = Buffer.concat([Buffer.alloc(SIZE_BYTES), descriptor]);
  bytes.writeUInt32LE(SIZE_BYTES, 0);
  if (descriptor.length > 0) {
    bytes.writeBigUInt64LE(loadKoffi().address(bytes) + BigInt(SIZE_BYTES), 8);
  }
  bytes.writeInt32LE(inheritable ? 1 : 0, 16);
  return bytes;
}
