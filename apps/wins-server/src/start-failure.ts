import { ConfigError } from '@wins/config';
import { PipeError } from '@wins/pipe-transport';
import { EXIT, messageOf, withGivenOptions } from '@wins/base';
import { exitCodeForError } from './exit-code-for-error.js';
import type { Logger } from './kernel/log/logger.js';

const PIPE_STEPS: Readonly<Partial<Record<PipeError['code'], string>>> = {
  inUse: 'stop the other daemon, or change "listen" and "proxy" in the config',
  accessDenied: 'run the daemon as an administrator (as root on Linux)',
  securityUnavailable: 'run the daemon as an administrator (as root on Linux)',
  invalidName: 'correct "listen" and "proxy" in the config',
};

/** Adds the stack only for an unexpected error, or at debug level. */
export function logStartFailure(logger: Logger, error: unknown, file: string): void {
  const exitCode = exitCodeForError(error);
  const lines = messageOf(error).split('\n');
  // The message of a ConfigError lists only the first problems.
  const count = Math.max(lines.length, errorsIn(error).length);
  const isForeseen = exitCode !== EXIT.server.internal;
  const code = codeOf(error);
  logger.fatal(
    {
      ...(code !== undefined && { code }),
      exitCode,
      ...(lines.length > 1 && { problems: lines }),
      next: withGivenOptions(nextStep(error), { config: file }),
      ...((!isForeseen || logger.isLevelEnabled('debug')) && { err: error }),
    },
    `the daemon cannot start: ${lines.length > 1 ? `found ${count} problems` : (lines[0] ?? '')}`,
  );
}

function codeOf(error: unknown): string | undefined {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

function nextStep(error: unknown): string {
  const [problem, ...more] = errorsIn(error);
  if (problem !== undefined)
    return more.length === 0 ? problem.nextStep : 'run: wins srv config check';
  const step = error instanceof PipeError ? PIPE_STEPS[error.code] : undefined;
  return step ?? 'run: wins doctor';
}

function errorsIn(error: unknown): ConfigError['problems'] {
  return error instanceof ConfigError
    ? error.problems.filter(({ severity }) => severity === 'error')
    : [];
}
