import { ConfigError } from '@wins/config';
import { FeatureError } from './kernel/feature-error.js';
import { PipeError } from '@wins/pipe-transport';
import { ProcessError } from '@wins/process-manager';
import { TrustedFileError } from '@wins/trusted-files';
import { WindowsError } from '@wins/windows-host';
import { errnoOf, EXIT, isUsageError } from '@wins/base';
import { DaemonCallError } from './client/daemon-call-error.js';

const DENIED: ReadonlySet<string> = new Set([
  'accessDenied',
  'notTrusted',
  'securityUnavailable',
  'EACCES',
  'EPERM',
]);

export function exitCodeForError(error: unknown): number {
  const { config, internal, noPermission, unavailable, usage } = EXIT.server;
  if (isUsageError(error)) return usage;
  if (error instanceof DaemonCallError) return error.exitCode;
  if (error instanceof ConfigError) return config;
  if (error instanceof ProcessError) {
    // Denied access to the folder of process records counts as a denied pipe, because the folder lies beside the pipe.
    const { cause } = error;
    return cause instanceof TrustedFileError && DENIED.has(cause.code) ? noPermission : internal;
  }
  if (error instanceof TrustedFileError) {
    if (DENIED.has(error.code)) return noPermission;
    return error.code === 'alreadyExists' || error.code === 'notFound' ? usage : internal;
  }
  if (error instanceof FeatureError && error.code === 'eventsUnreadable')
    return DENIED.has(errnoOf(error.cause) ?? '') ? noPermission : unavailable;
  if (error instanceof PipeError || error instanceof WindowsError)
    return DENIED.has(error.code) ? noPermission : unavailable;
  return internal;
}
