import { posixFileTrust } from '@wins/trusted-files';

/** For specs: where something is kept, in a folder that is made private as a daemon makes it. */
export function privateFolder(directory: string) {
  const prepareDirectory = (folder: string) => posixFileTrust().ensurePrivateFolder(folder);
  return { directory, prepareDirectory };
}

/** For specs: where an audit log is kept, with the bounds that it has by default. */
export function auditPlace(directory: string) {
  return { ...privateFolder(directory), maxFileBytes: 2 ** 23, maxFiles: 16 };
}
