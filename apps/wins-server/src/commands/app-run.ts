import { defaultConfigPath, loadConfig } from '@wins/config';
import { fileState, watchConfig } from '../config-watch.js';
import { composeDaemon } from '../compose-daemon.js';
import { EXIT } from '../exit-codes.js';
import { createLogger, logLevel } from '../logger.js';
import { listenForShutdown } from '../shutdown-signal.js';
import { COMMIT, VERSION } from '../version.js';

interface RunOptions {
  readonly config?: string | undefined;
  readonly debug: boolean;
  readonly quiet: boolean;
}

/** `wins srv app run`: serves until a signal asks it to end. */
export async function runDaemon(options: RunOptions): Promise<number> {
  const file = options.config ?? defaultConfigPath();
  using shutdown = listenForShutdown();
  const known = fileState(file);
  const loaded = await loadConfig(file);
  const level = (debug: boolean) =>
    logLevel({ debug: options.debug || debug, quiet: options.quiet });
  const logger = await createLogger({ ...options, debug: options.debug || loaded.config.debug });
  logger.info({ version: VERSION, commit: COMMIT, config: file, found: loaded.found }, 'starting');

  const { daemon, applyConfig } = await composeDaemon(loaded, logger);
  let exitCode: number = EXIT.ok;
  try {
    using _watch = watchConfig(file, known, {
      changed: (next) => {
        logger.level = level(next.config.debug);
        applyConfig(next);
      },
      rejected: (err) =>
        logger.error({ err }, 'config rejected; the last valid one stays in force'),
    });
    logger.info(
      { address: daemon.address, tunnelAddress: daemon.tunnelAddress, pid: process.pid },
      'ready',
    );
    const request = await shutdown.requested;
    if ('error' in request) {
      exitCode = EXIT.internal;
      logger.fatal({ err: request.error }, 'stopping: the daemon failed');
    } else {
      logger.info({ signal: request.signal }, 'stopping');
    }
  } finally {
    await daemon.close();
  }
  logger.info('stopped');
  return exitCode;
}
