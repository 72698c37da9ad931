import { configFingerprint, type LoadedConfig } from '@wins/config';
import { boundHeap, collector } from '../kernel/memory.js';
import { upgradeFolder } from '@wins/service-upgrade';
import { COMMIT, EXIT, VERSION } from '@wins/base';
import path from 'node:path';
import { configFileOf, loadStartConfig } from '../load-daemon-config.js';
import { startDaemon } from '../daemon.js';
import { exitCodeForError } from '../exit-code-for-error.js';
import { config } from '../features/config/feature.js';
import { networkStands } from '../features/network/network-stands.js';
import { startRunProfile } from '../features/diagnostics/run-profile.js';
import { tunnel } from '../features/tunnel/feature.js';
import { recoverInterruptedUpgrade } from '../features/upgrade/interrupted-upgrade.js';
import { logWarnings } from '../kernel/log/log-warnings.js';
import { parseLogFileCount, parseLogFileSize } from '../kernel/log/log-file-options.js';
import { createLogger, LogLevel, logLevel } from '../kernel/log/logger.js';
import { logStartFailure } from '../start-failure.js';
import { listenForReload, listenForShutdown } from '../kernel/shutdown-signal.js';
import type { RegisterOptions } from '../service/windows-service-definition.js';
import type { Surroundings } from '../service/windows-service.js';
import { thisSystem } from '../this-system.js';

const SYSTEM_ENDS: readonly string[] = ['shutdown', 'preshutdown'];

export interface RunOptions extends Omit<RegisterOptions, 'log-file-size' | 'log-files'> {
  readonly register: boolean;
  readonly unregister: boolean;
  readonly 'log-file-size'?: string | undefined;
  readonly 'log-files'?: string | undefined;
}

interface ServingSurroundings extends Surroundings {
  /** Lets an upgrade know that the daemon answers clients, even if the service still waits for its network. */
  readonly serves: () => void;
}

export async function runApp(typed: RunOptions): Promise<number> {
  const { 'log-file-size': size, 'log-files': files } = typed;
  const options = {
    ...typed,
    'log-file-size': size === undefined ? undefined : parseLogFileSize(size),
    'log-files': files === undefined ? undefined : parseLogFileCount(files),
  };
  if (options.register) return (await import('./app-register.js')).registerService(options);
  if (options.unregister) return (await import('./app-register.js')).unregisterService();
  if (process.platform === 'win32') {
    const { runAsWindowsService } = await import('../service/windows-service.js');
    const exitCode = await runAsWindowsService(options, (surroundings) =>
      runDaemon(options, surroundings),
    );
    // Exits explicitly, because a process that hangs after its service stopped would hold the pipes that the next process needs.
    if (exitCode !== undefined) process.exit(exitCode);
  }
  return runAtTerminal(options);
}

async function runAtTerminal(options: RegisterOptions): Promise<number> {
  using signals = listenForShutdown();
  const logger = await createLogger(options);
  const { requested: shutdown } = signals;
  // In tests, a file stands for the service. The substitute for the Windows service manager passes the path of this file in `WINS_SERVICE`.
  const service = process.platform === 'win32' ? undefined : process.env['WINS_SERVICE'];
  const ready = await readyNotice(logger);
  return await runDaemon(options, { service, folder: '.', logger, shutdown, ready });
}

/** Returns a function that tells systemd (`Type=notify`) that the daemon serves. Child processes do not inherit the socket. */
async function readyNotice(logger: Surroundings['logger']): Promise<() => void> {
  const { NOTIFY_SOCKET: address } = process.env;
  delete process.env['NOTIFY_SOCKET'];
  // The bundler knows `process.platform`, and leaves this code out of executables for other systems.
  if (process.platform === 'linux' && address !== undefined) {
    const { notifySupervisor } = await import('@wins/linux-host');
    return () => {
      try {
        notifySupervisor(address, 'READY=1');
      } catch (err) {
        logger.warn({ err }, 'cannot tell the supervisor that the daemon serves');
      }
    };
  }
  return () => undefined;
}

/** Finishes or undoes an interrupted upgrade, then serves. Logs an error that prevents serving. */
async function runDaemon(options: RegisterOptions, surroundings: Surroundings): Promise<number> {
  const { service, logger, shutdown } = surroundings;
  const file = process.argv[1] ?? process.execPath;
  const upgrade = recoverInterruptedUpgrade(service, file, logger);
  // Resolved now, because an upgrade may move this program later.
  const recordsFolder = service === undefined ? undefined : upgradeFolder(file);
  try {
    const ended = Promise.race([shutdown, upgrade.restart]);
    const within = { ...surroundings, shutdown: ended, serves: upgrade.serves };
    return await serve(options, within, recordsFolder);
  } catch (error) {
    await upgrade.fails(error);
    // At a terminal, or with --quiet, the caller prints the message.
    if (options.quiet || process.stderr.isTTY) throw error;
    logStartFailure(logger, error, configFileOf(options.config));
    return exitCodeForError(error);
  }
}

/** @throws ConfigError, PipeError. */
async function serve(
  options: RegisterOptions,
  { service, folder, logger, shutdown, ready, serves }: ServingSurroundings,
  upgradeRecords: string | undefined,
): Promise<number> {
  boundHeap();
  using _warnings = logWarnings(logger);
  const named = options.config === undefined ? undefined : path.resolve(options.config);
  const file = configFileOf(named);
  const fingerprint = configFingerprint(file);
  const { loaded, refused } = await loadStartConfig(named);
  using level = new LogLevel(logger);
  const onConfig = ({ config: { debug } }: LoadedConfig): void =>
    level.become(logLevel({ debug: options.debug || debug, quiet: options.quiet }));
  onConfig(loaded);
  logger.info({ version: VERSION, commit: COMMIT, config: file, found: loaded.found }, 'starting');

  await using _profile = await startRunProfile(options, folder, logger);
  let reload = (): Promise<unknown> => Promise.resolve();
  // Without a listener, a hangup signal would end the daemon.
  using _hangup = listenForReload(() => {
    logger.info('asked to reload the config');
    // Reload errors are already logged.
    reload().catch(() => undefined);
  });
  const system = thisSystem();
  const start = { named, loaded, refused, fingerprint };
  const daemon = await startDaemon({
    config: start,
    system,
    logger,
    level,
    service,
    upgradeRecords,
    onConfig,
  });
  reload = () => daemon.kernel.of(config).require().reload();
  const { address, kernel } = daemon;
  let exitCode: number = EXIT.server.ok;
  try {
    const tunnelAddress = kernel.of(tunnel).running?.address;
    logger.info({ address, tunnelAddress, pid: process.pid }, 'ready');
    serves();
    await daemon.work();
    await networkStands(kernel, shutdown);
    ready();
    // Frees the garbage of the start-up at once; V8 would collect it only after ten idle seconds.
    collector()();
    const request = await shutdown;
    // At a system shutdown only this service gets time to stop. The system would kill other processes of ours, such as keepers of runs.
    if ('control' in request && SYSTEM_ENDS.includes(request.control))
      for (const { view } of kernel.features()) await view.running?.endForShutdown?.();
    const hasFailed = 'error' in request;
    kernel.audit.note('stopping', hasFailed ? { failed: true } : { ...request });
    const facts = { reason: hasFailed ? 'failed' : 'asked' };
    kernel.events.publish({ type: 'kept', event: 'stopping', facts, isUrgent: true });
    if (hasFailed) {
      exitCode = EXIT.server.internal;
      logger.fatal({ err: request.error }, 'stopping: the daemon failed');
    } else {
      logger.info(request, 'stopping');
    }
  } finally {
    await daemon.close();
  }
  logger.info('stopped');
  return exitCode;
}
