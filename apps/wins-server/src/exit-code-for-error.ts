import { ConfigError } from '@wins/config';
import { FeatureError } from './kernel/feature-error.js';
import { PipeError } from '@wins/pipe-transport';
import { ProcessError } from '@wins/process-manager';
import { TrustedFileError } from '@wins/trusted-files';
import { WindowsError } from '@wins/windows-host';
import { errnoOf, EXIT, isUsageError } from '@wins/wins-program';
import { DaemonCallError } from './daemon-call-error.js';

const DENIED: ReadonlySet<string> = new Set(['EACCES', 'EPERM']);

/** The exit code of a command of `wins srv` or `wins doctor` that failed. */
export function exitCodeForError(error: unknown): number {
  if (isUsageError(error)) return EXIT.server.usage;
  if (error instanceof DaemonCallError) return error.exitCode;
  if (error instanceof ConfigError) return EXIT.server.config;
  if (error instanceof PipeError) {
    const isDenied = error.code === 'accessDenied' || error.code === 'securityUnavailable';
    return isDenied ? EXIT.server.noPermission : EXIT.server.unavailable;
  }
  // The folder of records lies beside the pipe: it is judged first, by the same rule.
  if (error instanceof ProcessError && error.cause instanceof TrustedFileError) {
    const { code } = error.cause;
    if (code === 'notTrusted' || code === 'accessDenied') return EXIT.server.noPermission;
  }
  if (error instanceof TrustedFileError) {
    if (error.code === 'accessDenied' || error.code === 'notTrusted')
      return EXIT.server.noPermission;
    return error.code === 'alreadyExists' || error.code === 'notFound'
      ? EXIT.server.usage
      : EXIT.server.internal;
  }
  if (error instanceof FeatureError && error.code === 'eventsUnreadable') {
    const isDenied = DENIED.has(errnoOf(error.cause) ?? '');
    return isDenied ? EXIT.server.noPermission : EXIT.server.unavailable;
  }
  if (error instanceof WindowsError) {
    return error.code === 'accessDenied' ? EXIT.server.noPermission : EXIT.server.unavailable;
  }
  return EXIT.server.internal;
}
