import { FeatureError, type FeatureErrorCode } from '../../kernel/feature-error.js';

export type CsiProxyErrorCode =
  | FeatureErrorCode
  | 'downloadFailed'
  /** The digest of the archive differs from the config, or from the first download of this version. */
  | 'digestMismatch'
  /** The file is not an archive, is too large, or does not contain exactly one program. */
  | 'archiveRefused'
  | 'fileFailed'
  /** The service manager refused, or the service did not follow a command. */
  | 'serviceFailed'
  /** The service runs without its pipe; the previous installation, if any, was restored. */
  | 'notServing';

export class CsiProxyError extends FeatureError<CsiProxyErrorCode> {}
