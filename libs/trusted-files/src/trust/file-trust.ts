/** Rules that refuse a path, with their numbers in docs/threat-model.md: for audit records, never for a message. */
export type TrustRule =
  | 'A7 symbolic link'
  | 'A7 link or junction'
  | 'A7 another path'
  | 'A7 not a regular file'
  | 'A7 not a directory'
  | 'A7 owned by another user'
  | 'A7 writable by other users'
  | 'A7 open to other users';

/** Reason why a path is not trusted. */
export interface Distrust {
  readonly rule: TrustRule;
  /** The distrusted part of the path. */
  readonly path: string;
  /** The finding, as the end of a sentence: `it is a symbolic link`. */
  readonly found: string;
  /** Remedy for an administrator, in the imperative. */
  readonly remedy?: string;
}

/** Options for judging a path. */
export interface TrustOptions {
  /** Follows links that only root or this user could have made, and judges their targets. Default: refuses links. Windows always refuses links. */
  readonly followLinks?: boolean;
}

/**
 * Judges whether anyone but the system's administrators and the user of this process could have created a file or can
 * change it. Paths are absolute. A trusted path stays trusted, because only trusted users can change it. The methods
 * return undefined for a trusted path; they are synchronous, because they make a few system calls of microseconds each.
 */
export interface FileTrust {
  /** Judges a regular file, its folder, and every folder above. @throws TrustedFileError `notFound`, `accessDenied`, `unknown`. */
  distrustOfFile(path: string, options?: TrustOptions): Distrust | undefined;
  /** Judges whether another user can add files to a folder or change its files. @throws TrustedFileError as `distrustOfFile`. */
  distrustOfFolder(path: string, options?: TrustOptions): Distrust | undefined;
  /**
   * Judges a folder as {@link ensurePrivateFolder} does; if it is missing, judges the folders above it.
   *
   * @throws TrustedFileError `accessDenied`, `unknown`.
   */
  distrustOfPrivateFolder(path: string): Distrust | undefined;
  /**
   * Creates a folder, with its parents, that only this user and the system's administrators can use; or checks that an
   * existing folder is private in the same way. Refuses links.
   *
   * @throws TrustedFileError `notTrusted`, `accessDenied`, `noSpace`, `unknown`.
   */
  ensurePrivateFolder(path: string): void;
}
