import { COMMIT, EXIT, VERSION } from '@wins/wins-program';
import { existsSync } from 'node:fs';
import path from 'node:path';
import {
  type ConfigChange,
  configFingerprint,
  type ConfigWatch,
  lastGoodFile,
  watchConfig,
} from '@wins/config';
import { ConfigGuard, droppedIn } from '../configuration/config-guard.js';
import { ConfigKeeper } from '../configuration/config-keeper.js';
import { configFileOf, loadDaemonConfig } from '../configuration/load-daemon-config.js';
import { loadStartConfig } from '../configuration/start-config.js';
import { composeDaemon } from '../compose-daemon.js';
import { startRunProfile } from '../features/diagnostics/run-profile.js';
import { boundHeap } from '../kernel/service-runtime/memory/bound-heap.js';
import { returnMemory } from '../kernel/service-runtime/memory/memory-return.js';
import { watchStalls } from '../kernel/service-runtime/event-loop/stall-watch.js';
import { recoverInterruptedUpgrade } from '../features/upgrade/interrupted-upgrade.js';
import { exitCodeForError } from '../exit-code-for-error.js';
import { parseLogFileCount, parseLogFileSize } from '../log/log-file-options.js';
import { LogLevel } from '../log/log-level.js';
import { createLogger, logLevel } from '../log/logger.js';
import { logStartFailure } from '../log/start-failure.js';
import { isOnTrial, recordUpgrades, upgradeFolder } from '@wins/service-upgrade';
import { listenForReload } from '../service/reload-signal.js';
import { listenForShutdown } from '../service/shutdown-signal.js';
import { watchSlowTurns } from '../admission/slow-turn-watch.js';
import { thisSystem } from '../this-system.js';
import { UpgradeSwitch } from '../features/upgrade/feature.js';
import type { RegisterOptions } from '../service/windows-service-definition.js';
import type { Surroundings } from '../service/windows-service.js';

/** The options, as they were typed. */
export interface RunOptions extends Omit<RegisterOptions, 'log-file-size' | 'log-files'> {
  readonly register: boolean;
  readonly unregister: boolean;
  readonly 'log-file-size'?: string | undefined;
  readonly 'log-files'?: string | undefined;
}

/** `wins srv app run`: serves, or registers or removes the service that serves. */
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
    // A stopped service that hangs must not keep its process: the next one would find its pipes taken.
    if (exitCode !== undefined) process.exit(exitCode);
  }
  return runAtTerminal(options);
}

/** On other systems than Windows the supervisor of the daemon names the service in a variable. */
function serviceOfSupervisor(): string | undefined {
  return process.platform === 'win32' ? undefined : process.env['WINS_SERVICE'];
}

async function runAtTerminal(options: RegisterOptions): Promise<number> {
  using signals = listenForShutdown();
  const logger = await createLogger(options);
  const { requested: shutdown } = signals;
  const service = serviceOfSupervisor();
  const ready = (): void => undefined;
  return await runDaemon(options, { service, folder: '.', logger, shutdown, ready });
}

/** Serves, and first finishes or undoes an interrupted upgrade. What keeps it from serving is logged. */
async function runDaemon(options: RegisterOptions, surroundings: Surroundings): Promise<number> {
  const { service, logger, shutdown } = surroundings;
  const file = process.argv[1] ?? process.execPath;
  const upgrade = recoverInterruptedUpgrade(service, file, logger);
  // A daemon on trial is moved later, so its folder is looked up now.
  const recordsFolder = service === undefined ? undefined : upgradeFolder(file);
  const ready = (): void => {
    surroundings.ready();
    upgrade.serves();
  };
  try {
    const ended = Promise.race([shutdown, upgrade.restart]);
    const within = { ...surroundings, shutdown: ended, ready };
    return await serve(options, within, recordsFolder);
  } catch (error) {
    await upgrade.fails(error);
    // A person at a terminal, or whoever wants no log, gets the message alone.
    if (options.quiet || process.stderr.isTTY) throw error;
    logStartFailure(logger, error, configFileOf(options.config));
    return exitCodeForError(error);
  }
}

/**
 * Serves until it is asked to end.
 *
 * @param recordsFolder - Where helpers leave their records of upgrades of this service.
 * @returns The exit code.
 * @throws ConfigError and PipeError when it cannot serve.
 */
async function serve(
  options: RegisterOptions,
  { service, folder, logger, shutdown, ready }: Surroundings,
  recordsFolder: string | undefined,
): Promise<number> {
  boundHeap();
  const named = options.config === undefined ? undefined : path.resolve(options.config);
  const file = configFileOf(named);
  const known = configFingerprint(file);
  const { loaded, refused } = await loadStartConfig(named);
  using level = new LogLevel(logger);
  const applyLevel = (debug: boolean): void =>
    level.become(logLevel({ debug: options.debug || debug, quiet: options.quiet }));
  applyLevel(loaded.config.debug);
  logger.info({ version: VERSION, commit: COMMIT, config: file, found: loaded.found }, 'starting');

  await using _profile = await startRunProfile(options, folder, logger);
  let watch: ConfigWatch<ConfigChange> | undefined;
  let guard: ConfigGuard | undefined;
  const load = async (allowDrop: readonly string[]) => {
    const next = await loadDaemonConfig(named);
    return (await guard?.admit(next, allowDrop)) ?? next;
  };
  const reload = async (allowDrop: readonly string[] = []) => {
    if (watch === undefined) throw new Error('the daemon is starting');
    const reloaded = await watch.reload(() => load(allowDrop));
    guard?.accept(allowDrop);
    return reloaded;
  };
  // Calls are answered with an error until it is watched; the system would end the daemon at a hangup.
  using _hangup = listenForReload(() => {
    logger.info('asked to reload the config');
    // What went wrong was logged.
    reload().catch(() => undefined);
  });
  const composed = await composeDaemon(loaded, logger, level, service, reload);
  const { daemon, applyConfig, checksum, audit, events, journal, trimMemory } = composed;
  let exitCode: number = EXIT.server.ok;
  await using metrics = composed.metrics;
  metrics.apply(loaded.config);
  await using tracing = composed.tracing;
  tracing.apply(loaded.config);
  const records =
    recordsFolder === undefined
      ? undefined
      : recordUpgrades(
          recordsFolder,
          (decision) => {
            const { outcome, reason } = decision;
            events.publish({ type: 'upgrade', outcome, reason });
            return audit.decided(decision);
          },
          logger,
        );
  try {
    using _stalls = watchStalls({
      stalled: (lateMs) => {
        logger.warn({ lateMs }, 'the event loop was blocked');
        events.publish({ type: 'stall', lateMs });
      },
    });
    using _slowTurns = watchSlowTurns({
      isWanted: () => logger.isLevelEnabled('debug'),
      tell: (seen) => logger.debug(seen, 'some turns of the event loop were slow'),
    });
    using _memory = returnMemory({ trim: trimMemory });
    await using agent = composed.agent;
    await using csiProxy = composed.csiProxy;
    await using adminPipe = composed.adminPipe;
    await using upgrades = new UpgradeSwitch({
      ...{ service, logger, audit, runningSha1: checksum },
      runningFile: process.argv[1] ?? process.execPath,
    });
    await adminPipe.open();
    const trust = (await thisSystem()).fileTrust();
    const program = process.argv[1] ?? process.execPath;
    await using keeper = new ConfigKeeper({
      ...{ trust, logger },
      // The program of a daemon on trial gets another path when it is proven.
      isProven: () => !isOnTrial(program) || !existsSync(program),
    });
    await using sections = await ConfigGuard.begin(loaded, { logger, events, audit, trust });
    guard = sections;
    using watched = watchConfig(
      file,
      known,
      {
        changed: (next) => {
          applyLevel(next.config.debug);
          metrics.apply(next.config);
          tracing.apply(next.config);
          const change = applyConfig(next);
          sections.served(next);
          upgrades.apply(next.config.upgrade);
          agent.apply(next.config);
          csiProxy.apply(next);
          void adminPipe.open();
          daemon.setConfigIsGood(true);
          keeper.keep(next);
          return change;
        },
        rejected: (err) => {
          logger.error({ err }, 'config rejected; the last valid one stays in force');
          daemon.setConfigIsGood(false);
          const dropped = droppedIn(err);
          events.publish({
            ...{ type: 'configReloaded', result: 'rejected', changed: [] },
            ...(dropped.length > 0 && { dropped }),
          });
          if (dropped.length > 0) audit.note('configRefused', { dropped });
        },
      },
      () => load([]),
      refused,
    );
    watch = watched;
    // From here on the config may be another one: nothing waits before this one is in force.
    audit.note('started', { version: VERSION, commit: COMMIT, config: file, pid: process.pid });
    void journal.tell('started', { version: VERSION, commit: COMMIT, pid: process.pid });
    if (refused === undefined) keeper.keep(loaded);
    else {
      const fields = {
        err: refused,
        config: file,
        inForce: lastGoodFile(file),
        sha256: loaded.sha256,
      };
      logger.error(
        fields,
        'config rejected; the daemon starts with the one that was in force before',
      );
      events.publish({ type: 'configReloaded', result: 'lastGood', changed: [] });
      audit.note('lastGoodConfig', { config: file, sha256: loaded.sha256 });
      daemon.setConfigIsGood(false);
    }
    logger.info(
      { address: daemon.address, tunnelAddress: daemon.tunnelAddress, pid: process.pid },
      'ready',
    );
    ready();
    upgrades.apply(loaded.config.upgrade);
    agent.apply(loaded.config);
    csiProxy.apply(loaded);
    const request = await shutdown;
    audit.note('stopping', 'error' in request ? { failed: true } : { ...request });
    void journal.tell('stopping', { reason: 'error' in request ? 'failed' : 'asked' });
    if ('error' in request) {
      exitCode = EXIT.server.internal;
      logger.fatal({ err: request.error }, 'stopping: the daemon failed');
    } else {
      logger.info(request, 'stopping');
    }
  } finally {
    records?.close();
    await daemon.close();
  }
  logger.info('stopped');
  return exitCode;
}
