import { InstallError, type InstallErrorCode } from '@wins/installation';
import { TrustedFileError } from '@wins/trusted-files';
import { FeatureError, isFeatureError, type FeatureErrorCode } from '../../kernel/feature-error.js';

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

const OF_FILES: ReadonlySet<InstallErrorCode> = new Set(['refused', 'unreadable']);

export function codeOf(error: unknown): CsiProxyErrorCode {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (isFeatureError(at)) return at.code;
    if (at instanceof InstallError && at.code === 'unproven') return 'notServing';
    const isRefusal = at instanceof InstallError && OF_FILES.has(at.code);
    if (isRefusal || at instanceof TrustedFileError || 'errno' in at) return 'fileFailed';
  }
  return 'serviceFailed';
}
