import { quoteText } from '@wins/base';
import type { Distrust, TrustRule } from './trust/file-trust.js';

/**
 * Reason of a failure. The list is closed, so that a switch over it can be exhaustive.
 *
 * - `accessDenied`: this process may not read or write the file.
 * - `alreadyExists`: the file exists, and the call creates only new files.
 * - `changed`: the content, or the file at the path, changed during the operation.
 * - `inUse`: another program runs the file, or blocks the operation by holding it open.
 * - `noSpace`: the disk or the quota is full.
 * - `notFound`: the file, or a folder of its path, does not exist.
 * - `notRegularFile`: the path is a folder, a device, a pipe or a socket.
 * - `notText`: the content is not in a supported text encoding.
 * - `notTrusted`: other users could have created the file or can change it; `rule` and `at` say why.
 * - `tooLarge`: the file has more bytes than the limit of the call.
 * - `unknown`: any other failure; `cause` is the error of the system.
 */
export type TrustedFileErrorCode =
  | 'accessDenied'
  | 'alreadyExists'
  | 'changed'
  | 'inUse'
  | 'noSpace'
  | 'notFound'
  | 'notRegularFile'
  | 'notText'
  | 'notTrusted'
  | 'tooLarge'
  | 'unknown';

/** Facts about an error; each is absent when it does not apply. */
export interface TrustedFileErrorDetails {
  readonly cause?: unknown;
  readonly rule?: TrustRule | undefined;
  /** Distrusted part of the path. Default: the path itself. */
  readonly at?: string | undefined;
  /**
   * The reason why the path is not trusted. Its `found` and `remedy` are separate texts, which a caller can show
   * separately. The error's own `found` contains both.
   */
  readonly distrust?: Distrust | undefined;
}

/** The only error class of this library. `message` ends with `found`: "cannot read X: FOUND". */
export class TrustedFileError extends Error {
  override readonly name = 'TrustedFileError';
  /** For `notTrusted`. */
  readonly rule: TrustRule | undefined;
  /** Distrusted part of the path; otherwise the path itself. */
  readonly at: string;
  /** Set for `notTrusted`, except for a refused link. */
  readonly distrust: Distrust | undefined;

  constructor(
    readonly code: TrustedFileErrorCode,
    /** The operation, worded to follow "cannot" in a message. */
    readonly tried: string,
    readonly path: string,
    /** The fault, as the end of a sentence. */
    readonly found: string,
    { cause, rule, at = path, distrust }: TrustedFileErrorDetails = {},
  ) {
    const where = at === path ? '' : ` because of ${quoteText(at)}`;
    const message = `cannot ${tried} ${quoteText(path)}${where}: ${found}`;
    super(message, cause === undefined ? undefined : { cause });
    this.rule = rule;
    this.at = at;
    this.distrust = distrust;
  }
}

/** Creates the `notTrusted` error for a path: its `found` has the reason, and the remedy if there is one. */
export function distrusted(tried: string, path: string, distrust: Distrust): TrustedFileError {
  const { rule, path: at, remedy } = distrust;
  const found = remedy === undefined ? distrust.found : `${distrust.found}; ${remedy}`;
  return new TrustedFileError('notTrusted', tried, path, found, { rule, at, distrust });
}
