import { posixFileTrust } from '@wins/trusted-files';

/** Returns options that make a folder private as the daemon does. */
export function privateFolder(directory: string) {
  const prepareDirectory = (folder: string) => posixFileTrust().ensurePrivateFolder(folder);
  return { directory, prepareDirectory };
}

export function auditOptions(directory: string) {
  return { ...privateFolder(directory), maxFileBytes: 2 ** 23, maxFiles: 16 };
}
