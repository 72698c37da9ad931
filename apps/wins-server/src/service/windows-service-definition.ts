import type { ServiceDefinition } from '@wins/windows-host';
import { DAEMON_SERVICE, SERVICE_NAME } from '@wins/base';
import path from 'node:path';
import type { ProfileOptions } from '../features/diagnostics/run-profile.js';
import type { LogFileOptions, LogOptions } from '../kernel/log/logger.js';

export interface RegisterOptions extends LogOptions, LogFileOptions, ProfileOptions {
  readonly config?: string | undefined;
  readonly 'delayed-start'?: boolean | undefined;
  /** Separated by blanks or commas. */
  readonly 'depends-on'?: string | undefined;
}

export type Program = Pick<NodeJS.Process, 'execPath' | 'argv' | 'cwd'>;

export function serviceDefinition(options: RegisterOptions, program: Program): ServiceDefinition {
  const { config, debug, quiet, 'log-file-size': fileBytes, 'log-files': files } = options;
  const command = [
    ...wordsOf(program),
    'srv',
    'app',
    'run',
    ...(config === undefined ? [] : ['--config', path.win32.resolve(program.cwd(), config)]),
    ...(debug ? ['--debug'] : []),
    ...(quiet ? ['--quiet'] : []),
    ...(fileBytes === undefined ? [] : ['--log-file-size', String(fileBytes)]),
    ...(files === undefined ? [] : ['--log-files', String(files)]),
    ...profileWords(options, program),
  ];
  return {
    ...DAEMON_SERVICE,
    name: SERVICE_NAME,
    command,
    startType: options['delayed-start'] === true ? 'delayed' : 'automatic',
    dependencies: (options['depends-on'] ?? '').split(/[\s,]+/).filter((word) => word !== ''),
  };
}

/** With a profile option in the registration, each start of the service writes a profile, as in the Go release. */
function profileWords(
  { profile = 'none', 'profile-output': output }: ProfileOptions,
  program: Program,
): string[] {
  if (profile === 'none') return [];
  const file = output === undefined ? [] : [path.win32.resolve(program.cwd(), output)];
  return ['--profile', profile, ...file.flatMap((name) => ['--profile-output', name])];
}

/** Command of this program: one file, or node.exe and a script. In a single executable, the script is the executable itself. */
export function wordsOf({ execPath, argv: [, script] }: Program): readonly string[] {
  const isOneFile = script === undefined || path.win32.relative(execPath, script) === '';
  return isOneFile ? [execPath] : [execPath, script];
}
