import { quoteText } from '@wins/base';
import type { Distrust, TrustRule } from './trust/file-trust.js';

/** Every way in which this library refuses or fails; the list is closed. */
export type TrustedFileErrorCode =
  | 'accessDenied'
  /** Something has the name already. */
  | 'alreadyExists'
  /** The bytes, or the file at the path, became others while they were handled. */
  | 'changed'
  /** Another program has the file open in a way that forbids this, or runs it. */
  | 'inUse'
  /** No room on the disk, or in the quota. */
  | 'noSpace'
  | 'notFound'
  | 'notRegularFile'
  /** The bytes are in no encoding that is read as text. */
  | 'notText'
  /** Others could have put it there or can change it: `rule` and `at` say why. */
  | 'notTrusted'
  | 'tooLarge'
  | 'unknown';

/** Facts that go with an error; each is absent when it does not apply. */
export interface TrustedFileErrorDetails {
  /** Error that Node threw. */
  readonly cause?: unknown;
  readonly rule?: TrustRule;
  /** The step of the path that is the reason. Default: the path itself. */
  readonly at?: string;
}

/**
 * The one error of this library. `message` is complete; a library that shows its own composes it from `found`, the last part of
 * a sentence: "cannot read X: FOUND".
 */
export class TrustedFileError extends Error {
  override readonly name = 'TrustedFileError';
  /** For `notTrusted`. */
  readonly rule: TrustRule | undefined;
  /** The step of the path that is the reason. */
  readonly at: string;

  constructor(
    readonly code: TrustedFileErrorCode,
    /** The operation, such as `read`. */
    readonly tried: string,
    readonly path: string,
    readonly found: string,
    { cause, rule, at = path }: TrustedFileErrorDetails = {},
  ) {
    const where = at === path ? '' : ` because of ${quoteText(at)}`;
    const message = `cannot ${tried} ${quoteText(path)}${where}: ${found}`;
    super(message, cause === undefined ? undefined : { cause });
    this.rule = rule;
    this.at = at;
  }
}

/** The error for a place that is not trusted. */
export function distrusted(tried: string, path: string, distrust: Distrust): TrustedFileError {
  const { rule, path: at, remedy } = distrust;
  const found = remedy === undefined ? distrust.found : `${distrust.found}; ${remedy}`;
  return new TrustedFileError('notTrusted', tried, path, found, { rule, at });
}
