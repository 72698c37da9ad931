import { ConfigError } from '@wins/config';
import { PipeError } from '@wins/pipe-transport';
import { WindowsError } from '@wins/windows-host';
import { EXIT } from '../exit-codes.js';
import { UsageError } from '../usage-error.js';

/** The exit code of a command that failed. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError) return error.exitCode;
  if (error instanceof ConfigError) return EXIT.config;
  if (error instanceof PipeError) {
    return error.code === 'accessDenied' || error.code === 'securityUnavailable'
      ? EXIT.noPermission
      : EXIT.unavailable;
  }
  if (error instanceof WindowsError) {
    return error.code === 'access-denied' ? EXIT.noPermission : EXIT.unavailable;
  }
  return EXIT.internal;
}
