/** The rules by which a place is refused, as docs/threat-model.md numbers them: for audit records, never for a message. */
export type TrustRule =
  | 'A7 symbolic link'
  | 'A7 link or junction'
  | 'A7 another path'
  | 'A7 not a regular file'
  | 'A7 not a directory'
  | 'A7 owned by another user'
  | 'A7 writable by other users'
  | 'A7 open to other users';

/** Why a place is not trusted. */
export interface Distrust {
  readonly rule: TrustRule;
  /** The step of the path that is the reason. */
  readonly path: string;
  /** The finding, as the end of a sentence: `it is a symbolic link`. */
  readonly found: string;
  /** Remedy for an administrator, as an imperative. */
  readonly remedy?: string;
}

/** How a path is read. */
export interface TrustOptions {
  /**
   * Follows symbolic links that only root or this user could have made, and judges what they lead to. Default: refuses every
   * link. Windows refuses every link in any case.
   */
  readonly followLinks?: boolean;
}

/**
 * Judges who could have put a file where it is, or can change it: no one but the system's administrators and the user of this
 * process may. Synchronous: a walk is a few calls of microseconds each, and nothing of this process can happen in between.
 *
 * Paths are absolute. What is judged trusted stays so, for only those who are trusted can change it.
 */
export interface FileTrust {
  /**
   * Judges a regular file, its folder, and every folder above.
   *
   * @returns Undefined when it is trusted.
   * @throws TrustedFileError `notFound`, `accessDenied`, `unknown`.
   */
  distrustOfFile(path: string, options?: TrustOptions): Distrust | undefined;
  /**
   * Judges a folder and every folder above: whether someone else can put anything into it, or change what is in it.
   *
   * @returns Undefined when it is trusted.
   * @throws TrustedFileError `notFound`, `accessDenied`, `unknown`.
   */
  distrustOfFolder(path: string, options?: TrustOptions): Distrust | undefined;
  /**
   * Judges a folder as {@link ensurePrivateFolder} does, and makes nothing: of what is not there yet only the folders above are judged.
   *
   * @returns Undefined when it is private, or can be made so.
   * @throws TrustedFileError `accessDenied`, `unknown`.
   */
  distrustOfPrivateFolder(path: string): Distrust | undefined;
  /**
   * Makes a folder, with those above it, that only this user and the system's administrators can use; or checks that one that
   * is there already is such a folder. Links are refused.
   *
   * @throws TrustedFileError `notTrusted`, `accessDenied`, `noSpace`, `unknown`.
   */
  ensurePrivateFolder(path: string): void;
}
