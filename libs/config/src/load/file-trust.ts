/** The facts of a file that decide who may change it. */
export interface FileOwnership {
  readonly uid: number;
  readonly gid: number;
  /** Permission bits; higher bits are ignored. */
  readonly mode: number;
}

/** The user and group on whose behalf the file is read. */
export interface Reader {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Says who else may change a file, or undefined when only root and the reader may.
 *
 * Whoever writes the file decides what the daemon runs: not trusted are another owner (who may set any
 * mode), write permission for all, and write permission for a group other than root's and the reader's.
 */
export function distrustReason(file: FileOwnership, reader: Reader): string | undefined {
  const facts = `mode ${(file.mode & 0o7777).toString(8).padStart(4, '0')}, owner ${file.uid}, group ${file.gid}`;
  if (file.uid !== 0 && file.uid !== reader.uid) return `a file of another user (${facts})`;
  if ((file.mode & 0o002) !== 0) return `a file that everyone may write (${facts})`;
  if ((file.mode & 0o020) !== 0 && file.gid !== 0 && file.gid !== reader.gid)
    return `a file that another group may write (${facts})`;
  return undefined;
}
