import { runAsService, windowsFileTrust, type RunningService } from '@wins/windows-host';
import { SERVICE_NAME } from '@wins/base';
import { exitCodeForError } from '../exit-code-for-error.js';
import type { LogFileOptions, LogOptions, Logger } from '../kernel/log/logger.js';
import { listenForStackDump } from './windows-stack-dump.js';
import { listenForShutdown, type ShutdownRequest } from './shutdown-signal.js';
import {
  openServiceLog,
  type SecureFolder,
  type ServiceLog,
} from '../kernel/log/windows-service-log.js';

/** Surroundings of a daemon: a terminal, or the service control manager. */
export interface Surroundings {
  /** The service that this daemon is, if it is one. */
  readonly service: string | undefined;
  /** Where a file is that an option names without a folder; undefined when there is no place for one. */
  readonly folder: string | undefined;
  readonly logger: Logger;
  /** Resolves when the daemon must end; the first request counts. */
  readonly shutdown: Promise<ShutdownRequest>;
  /** The daemon calls it once it serves. */
  readonly ready: () => void;
}

export interface WindowsServiceOptions extends LogOptions, LogFileOptions {
  /** Makes the folder of the log files. Default: that of {@link windowsFileTrust}. */
  readonly secureFolder?: SecureFolder;
}

/**
 * Runs the daemon as a Windows service if the service control manager has started it.
 *
 * @param serve - Serves until it is asked to end, and returns its exit code. An error is logged, and determines the exit code.
 * @returns The exit code, or `undefined` when this is not a service; then nothing was run.
 */
export async function runAsWindowsService(
  {
    secureFolder = (folder) => windowsFileTrust().ensurePrivateFolder(folder),
    ...options
  }: WindowsServiceOptions,
  serve: (surroundings: Surroundings) => Promise<number>,
): Promise<number | undefined> {
  let log: ServiceLog | undefined;
  const run = async (service: RunningService): Promise<number> => {
    const { logger, folder } = (log = await openServiceLog(options, secureFolder));
    using signals = listenForShutdown('service');
    await using _stacks = folder === undefined ? undefined : listenForStackDump(folder, logger);
    const stopped = service.stopRequested.then((control) => ({ control }));
    const shutdown = Promise.race([signals.requested, stopped]);
    try {
      return await serve({
        ...{ service: service.name, folder, logger, shutdown },
        ready: () => service.ready(),
      });
    } catch (err) {
      logger.fatal({ err }, 'the daemon cannot serve');
      return exitCodeForError(err);
    } finally {
      await log.close();
      log = undefined;
    }
  };
  const exitCode = await runAsService({
    name: SERVICE_NAME,
    run,
    onReportFailed: (err) =>
      log?.logger.error({ err }, 'cannot report to the service control manager'),
  });
  // The daemon hangs if its log is still open: the service has stopped without it.
  log?.logger.fatal('the daemon did not start or stop in time');
  return exitCode;
}
