import { posixFileTrust } from '@wins/trusted-files';

/** Returns options for a folder that is made private as in the daemon. */
export function privateFolder(directory: string) {
  const prepareDirectory = (folder: string) => posixFileTrust().ensurePrivateFolder(folder);
  return { directory, prepareDirectory };
}

export function auditPlace(directory: string) {
  return { ...privateFolder(directory), maxFileBytes: 2 ** 23, maxFiles: 16 };
}
