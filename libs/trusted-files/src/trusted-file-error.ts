import { quoteText } from '@wins/base';
import type { Distrust, TrustRule } from './trust/file-trust.js';

/** All kinds of refusal and failure of this library; the list is closed. */
export type TrustedFileErrorCode =
  | 'accessDenied'
  /** A file or folder of that name already exists. */
  | 'alreadyExists'
  /** The bytes, or the file at the path, changed during the operation. */
  | 'changed'
  /** Another program runs the file, or has it open in a way that forbids the operation. */
  | 'inUse'
  /** The disk or the quota is full. */
  | 'noSpace'
  | 'notFound'
  | 'notRegularFile'
  /** The bytes are not in a supported text encoding. */
  | 'notText'
  /** Other users could have created the file or can change it; `rule` and `at` give the reason. */
  | 'notTrusted'
  | 'tooLarge'
  | 'unknown';

/** Facts about an error; each is absent when it does not apply. */
export interface TrustedFileErrorDetails {
  /** Error that Node threw. */
  readonly cause?: unknown;
  readonly rule?: TrustRule;
  /** The distrusted part of the path. Default: the path itself. */
  readonly at?: string;
  /** The judgement of the file, for messages that show its remedy separately; `found` contains finding and remedy. */
  readonly distrust?: Distrust;
}

/** The only error class of this library. `message` is complete; `found` is its last part: "cannot read X: FOUND". */
export class TrustedFileError extends Error {
  override readonly name = 'TrustedFileError';
  /** The rule, for `notTrusted`. */
  readonly rule: TrustRule | undefined;
  /** The distrusted part of the path. */
  readonly at: string;
  /** The judgement of the file, for `notTrusted`; absent for a refused link. */
  readonly distrust: Distrust | undefined;

  constructor(
    readonly code: TrustedFileErrorCode,
    /** The operation, such as `read`. */
    readonly tried: string,
    readonly path: string,
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

/** Returns the error for a path that is not trusted. */
export function distrusted(tried: string, path: string, distrust: Distrust): TrustedFileError {
  const { rule, path: at, remedy } = distrust;
  const found = remedy === undefined ? distrust.found : `${distrust.found}; ${remedy}`;
  return new TrustedFileError('notTrusted', tried, path, found, { rule, at, distrust });
}
