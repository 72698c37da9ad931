/** Rules that refuse a path, with their number in docs/threat-model.md. For audit records, never for a message. */
export type TrustRule =
  | 'A7 symbolic link'
  | 'A7 link or junction'
  | 'A7 another path'
  | 'A7 not a regular file'
  | 'A7 not a directory'
  | 'A7 owned by another user'
  | 'A7 writable by other users'
  | 'A7 open to other users';

/** Why a path is not trusted. */
export interface Distrust {
  readonly rule: TrustRule;
  readonly path: string;
  /** End of a sentence: `it is a symbolic link`. */
  readonly found: string;
  /** For an administrator, in the imperative. */
  readonly remedy?: string | undefined;
}

/** Options of the checks who can write a path. */
export interface TrustOptions {
  /** Follows links that only root or this user could have made, and judges their targets. By default, and always on Windows, links are refused. */
  readonly followLinks?: boolean | undefined;
}

/**
 * Judges whether only administrators and the user of this process could have created a file and can change it. Paths are
 * absolute. A trusted path stays trusted, because only trusted users can change it. Methods return undefined for a trusted path.
 * They are synchronous, because they take microseconds.
 */
export interface FileTrust {
  /** Judges a regular file and every folder above it. @throws TrustedFileError `notFound`, `accessDenied`, `unknown`. */
  distrustOfFile(path: string, options?: TrustOptions): Distrust | undefined;
  /** Judges whether another user can add or change files in a folder. @throws TrustedFileError as `distrustOfFile`. */
  distrustOfFolder(path: string, options?: TrustOptions): Distrust | undefined;
  /**
   * Judges as {@link ensurePrivateFolder} does. For a missing folder, judges the folders above.
   *
   * @throws TrustedFileError `accessDenied`, `unknown`.
   */
  distrustOfPrivateFolder(path: string): Distrust | undefined;
  /**
   * Creates a folder and its parents, for this user and administrators only, or checks an existing folder. Refuses links.
   *
   * @throws TrustedFileError `notTrusted`, `accessDenied`, `noSpace`, `unknown`.
   */
  ensurePrivateFolder(path: string): void;
}
