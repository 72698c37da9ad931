import { SERVICE_NAME } from '@wins/base';
import {
  listenToEvent,
  runAsService,
  windowsFileTrust,
  type RunningService,
} from '@wins/windows-host';
import { exitCodeForError } from '../exit-code-for-error.js';
import { stackDumpEvent, writeStackDump } from '../features/diagnostics/write-stack-dump.js';
import type { LogFileOptions, Logger, LogOptions } from '../kernel/log/logger.js';
import {
  openServiceLog,
  type SecureFolder,
  type ServiceLog,
} from '../kernel/log/windows-service-log.js';
import { listenForShutdown, type ShutdownRequest } from '../kernel/shutdown-signal.js';

export interface Surroundings {
  /** Undefined when this daemon is not a service. */
  readonly service: string | undefined;
  /** Base folder of relative file names in options; undefined when there is none. */
  readonly folder: string | undefined;
  readonly logger: Logger;
  /** Resolves with the first request to stop. */
  readonly shutdown: Promise<ShutdownRequest>;
  readonly ready: () => void;
}

export interface WindowsServiceOptions extends LogOptions, LogFileOptions {
  /** Makes the log folder private. Default: {@link windowsFileTrust} does it. */
  readonly secureFolder?: SecureFolder;
}

/** Returns the exit code of `serve`. If `serve` throws, logs the error and returns that error's exit code. Outside a service, returns `undefined`. */
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
        service: service.name,
        folder,
        logger,
        shutdown,
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
  // If the log is still open, `run` has not ended: the daemon hangs.
  log?.logger.fatal('the daemon did not start or stop in time');
  return exitCode;
}

/** `P` excludes inherited entries. */
const ADMINISTRATORS_AND_SYSTEM = 'D:P(A;;GA;;;BA)(A;;GA;;;SY)';

/** Writes the stacks whenever the event `Global\stackdump-PID` is set, like the Go release. If that name is taken, logs an error. */
export function listenForStackDump(folder: string, logger: Logger): AsyncDisposable {
  const name = stackDumpEvent(process.pid);
  const failed = (err: unknown): void =>
    logger.error({ err, event: name }, 'cannot dump the stacks');
  const signalled = async (): Promise<void> => {
    const { Diagnostics } = await import('../features/diagnostics/diagnostics.js');
    const file = await writeStackDump(new Diagnostics(), folder);
    logger.info({ file }, 'the stacks are written');
  };
  try {
    const sddl = ADMINISTRATORS_AND_SYSTEM;
    const listener = listenToEvent({ name, sddl, signalled, failed });
    return { [Symbol.asyncDispose]: () => listener.close() };
  } catch (error) {
    failed(error);
    return { [Symbol.asyncDispose]: () => Promise.resolve() };
  }
}
