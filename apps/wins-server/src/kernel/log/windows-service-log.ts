import { openEventLog } from '@wins/windows-host';
import { messageOf, SERVICE_NAME } from '@wins/base';
import path from 'node:path';
import { LOG_FILES } from './log-file-options.js';
import { createLoggerTo, type LogFileOptions, type LogOptions, type Logger } from './logger.js';
import { openRotatingLog, type RotatingLog } from './rotating-log.js';
import { createEventDestination } from './windows-service-events.js';

/** Creates or restricts a folder, so that only administrators and the system can write to it. @throws if that fails. */
export type SecureFolder = (folder: string) => void | Promise<void>;

export interface ServiceLog {
  readonly logger: Logger;
  /** Undefined if the folder cannot be secured; then nothing may be written there. */
  readonly folder: string | undefined;
  /** Writes buffered lines. Idempotent. */
  close(): Promise<void>;
}

export function serviceLogFolder(env: NodeJS.ProcessEnv = process.env): string {
  return path.win32.join(env['ProgramData'] ?? 'C:\\ProgramData', 'rancher', 'wins', 'log');
}

/** Logs all lines to files, and important events to the event log. Without a usable folder, only to the event log. */
export async function openServiceLog(
  options: LogOptions & LogFileOptions,
  secureFolder: SecureFolder,
): Promise<ServiceLog> {
  const log = openEventLog(SERVICE_NAME);
  const events = createEventDestination(log);
  const complain = (tried: string, error: unknown): void => {
    log.report({ type: 'error', id: 11, lines: [tried, `problem: ${messageOf(error)}`] });
  };
  let files: RotatingLog | undefined;
  let folder: string | undefined;
  try {
    const wanted = serviceLogFolder();
    await secureFolder(wanted);
    folder = wanted;
    files = openRotatingLog({
      folder,
      name: SERVICE_NAME,
      maxFileBytes: options['log-file-size'] ?? LOG_FILES.size.default,
      maxFiles: options['log-files'] ?? LOG_FILES.count.default,
      onProblem: (error) => complain('cannot write to the log file', error),
    });
  } catch (error) {
    complain('cannot open the log file', error);
  }
  let isOpen = true;
  const logger = createLoggerTo(options, {
    write: (line: string) => {
      files?.write(line);
      if (isOpen) events.write(line);
    },
  });
  return {
    logger,
    folder,
    close: async () => {
      await files?.close();
      isOpen = false;
      log.close();
    },
  };
}
