import type { ServiceDefinition } from '@wins/windows-host';
import { DAEMON_SERVICE, SERVICE_NAME } from '@wins/wins-program';
import path from 'node:path';
import type { LogFileOptions, LogOptions } from '../log/logger.js';

/** What is asked for with `--register`. */
export interface RegisterOptions extends LogOptions, LogFileOptions {
  readonly config?: string | undefined;
  readonly 'delayed-start'?: boolean | undefined;
  /** Names with blanks or commas between them. */
  readonly 'depends-on'?: string | undefined;
}

/** This program, as Node tells of it. */
export type Program = Pick<NodeJS.Process, 'execPath' | 'argv' | 'cwd'>;

/**
 * The service that runs this very program with these options. It gives the config by its absolute path: a service does not
 * run in the folder where it was registered.
 */
export function serviceDefinition(options: RegisterOptions, program: Program): ServiceDefinition {
  const { config, debug, quiet, 'log-file-size': fileBytes, 'log-files': files } = options;
  const command = [
    ...wordsOf(program),
    ...['srv', 'app', 'run'],
    ...(config === undefined ? [] : ['--config', path.win32.resolve(program.cwd(), config)]),
    ...(debug ? ['--debug'] : []),
    ...(quiet ? ['--quiet'] : []),
    ...(fileBytes === undefined ? [] : ['--log-file-size', String(fileBytes)]),
    ...(files === undefined ? [] : ['--log-files', String(files)]),
  ];
  return {
    ...DAEMON_SERVICE,
    name: SERVICE_NAME,
    command,
    startType: options['delayed-start'] === true ? 'delayed' : 'automatic',
    dependencies: (options['depends-on'] ?? '').split(/[\s,]+/).filter((word) => word !== ''),
  };
}

/** One file, or node.exe and the script that it runs. A script alone has its own path as the second word. */
function wordsOf({ execPath, argv: [, script] }: Program): readonly string[] {
  const isOneFile = script === undefined || path.win32.relative(execPath, script) === '';
  return isOneFile ? [execPath] : [execPath, script];
}
