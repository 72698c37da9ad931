import { openEventLog } from '@wins/windows-host';
import { messageOf, SERVICE_NAME } from '@wins/wins-program';
import path from 'node:path';
import { createLoggerTo, type LogOptions, type Logger } from './logger.js';
import { openRotatingLog, type RotatingLog } from './rotating-log.js';
import { createEventDestination } from './windows-service-events.js';

/**
 * Makes a folder, with those above it, in which only administrators and the system may write; one that is there is made so,
 * or refused.
 */
export type SecureFolder = (folder: string) => void | Promise<void>;

/** A log that is closed by whoever opened it. */
export interface ServiceLog {
  readonly logger: Logger;
  /** Writes what was taken. Idempotent. */
  close(): Promise<void>;
}

/** Where a service's log files are. */
export function serviceLogFolder(env: NodeJS.ProcessEnv = process.env): string {
  return path.win32.join(env['ProgramData'] ?? 'C:\\ProgramData', 'rancher', 'wins', 'log');
}

/**
 * The log of the daemon as a service: everything in files, JSON lines, and what an operator should see in the event log. A
 * folder that cannot be had for the files is told in the event log, and the daemon goes on with that alone.
 */
export async function openServiceLog(
  options: LogOptions,
  secureFolder: SecureFolder,
): Promise<ServiceLog> {
  const log = openEventLog(SERVICE_NAME);
  const events = createEventDestination(log);
  const complain = (tried: string, error: unknown): void => {
    const problem = messageOf(error);
    log.report({ type: 'error', id: 11, lines: [tried, `problem: ${problem}`] });
  };
  let files: RotatingLog | undefined;
  const folder = serviceLogFolder();
  try {
    await secureFolder(folder);
    files = openRotatingLog({
      folder,
      name: SERVICE_NAME,
      onProblem: (error) => complain('the log file takes no lines', error),
    });
  } catch (error) {
    complain('there is no log file', error);
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
    close: async () => {
      await files?.close();
      isOpen = false;
      log.close();
    },
  };
}
