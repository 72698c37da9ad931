import { ConfigError } from '@wins/config';
import { PipeError } from '@wins/pipe-transport';
import { WindowsError } from '@wins/windows-host';
import { UsageError } from './usage-error.js';

/** How `wins srv` and `wins doctor` end; the numbers above 63 are those of BSD's sysexits.h. */
export const EXIT = {
  ok: 0,
  /** `wins doctor` found warnings, but no problem. */
  doubtful: 1,
  /** `wins doctor` found a problem. */
  unwell: 2,
  /** The command line is invalid. */
  usage: 64,
  /** Another daemon serves the pipe, or the pipe cannot be served. */
  unavailable: 69,
  /** The daemon itself failed. */
  internal: 70,
  /** The system does not let us serve the pipe with the access rules that it must have. */
  noPermission: 77,
  /** The config file is wrong. */
  config: 78,
} as const;

/** The exit code of a command that failed. */
export function exitCodeForError(error: unknown): number {
  if (error instanceof UsageError) return EXIT.usage;
  if (error instanceof ConfigError) return EXIT.config;
  if (error instanceof PipeError) {
    const isDenied = error.code === 'accessDenied' || error.code === 'securityUnavailable';
    return isDenied ? EXIT.noPermission : EXIT.unavailable;
  }
  if (error instanceof WindowsError) {
    return error.code === 'access-denied' ? EXIT.noPermission : EXIT.unavailable;
  }
  return EXIT.internal;
}
