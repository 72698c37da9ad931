import {
  parseSecurityDescriptor as parse,
  SecurityDescriptorError,
  type SecurityDescriptor,
} from '@wins/wins-program';
import { WindowsError } from '../windows-error.js';

export { grantsTheSame } from '@wins/wins-program';

/**
 * Reads a security descriptor of a file, folder or pipe from SDDL, as `parseSecurityDescriptor` of `@wins/wins-program` does.
 *
 * @throws WindowsError `invalidArgument` for text that is no SDDL, or that grants something not known here.
 */
export function parseSecurityDescriptor(sddl: string): SecurityDescriptor {
  try {
    return parse(sddl);
  } catch (error) {
    if (!(error instanceof SecurityDescriptorError)) throw error;
    throw new WindowsError('invalidArgument', error.message, { cause: error });
  }
}
