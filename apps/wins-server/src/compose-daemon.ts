/**
 * The one place where the libraries meet: a config becomes a daemon.
 */
import type { LoadedConfig, WinsConfig } from '@wins/config';
import { checkAllowedExecutables, createProcessManager } from '@wins/process-manager';
import { isDeepStrictEqual } from 'node:util';
import { allowedBy } from './allowed-executables.js';
import { startDaemon, type Daemon } from './daemon.js';
import { hostSystem } from './host-system/select-host-system.js';
import type { Logger } from './logger.js';
import { logProcessEvent } from './process-events.js';
import { sha1OfFile } from './sha1-of-file.js';
import { stateDirectoryOf } from './state-directory.js';
import { systemParts } from './system-parts.js';

/** A daemon and the way to give it another config while it serves. */
export interface ComposedDaemon {
  readonly daemon: Daemon;
  /** Puts a new config in force, as far as that is possible without a restart. */
  readonly applyConfig: (loaded: LoadedConfig) => void;
  /** The SHA-1 of the program that this daemon is; empty when it could not be read. */
  readonly checksum: Promise<string>;
}

/** Settings that are read once, when the pipes are opened. */
const READ_AT_START = [
  'listen',
  'proxy',
  'pipeAccess',
  'tunnel',
] as const satisfies readonly (keyof WinsConfig)[];

/**
 * Makes the parts of the daemon, joins them and starts to serve.
 *
 * @throws PipeError when a pipe cannot be served.
 */
export async function composeDaemon(loaded: LoadedConfig, logger: Logger): Promise<ComposedDaemon> {
  reportWarnings(loaded, logger);
  const { processHost, ...system } = await systemParts(loaded.config.pipeAccess);
  const manager = createProcessManager({
    allowed: allowedBy(loaded.config),
    stateDirectory: stateDirectoryOf(loaded.config.listen),
    ...(processHost && { host: processHost }),
    ...(system.portOpener && { portOpener: system.portOpener }),
    onDecision: (record) => logger.info({ audit: true, ...record }, 'decision'),
    onEvent: (event) => logProcessEvent(logger, event),
  });
  // At the start: an upgrade replaces the file while the old daemon still runs.
  const checksum = sha1OfFile(process.argv[1] ?? process.execPath).catch(() => '');
  const daemon = await startDaemon({
    loaded,
    manager,
    system,
    hostSystem: hostSystem(process.platform),
    logger,
    checksum,
  });
  return {
    daemon,
    checksum,
    applyConfig: (next) => {
      reportWarnings(next, logger);
      manager.setAllowed(allowedBy(next.config));
      daemon.allowPorts(next.config.whiteList.proxyPorts);
      const ignored = READ_AT_START.filter(
        (key) => !isDeepStrictEqual(next.config[key], loaded.config[key]),
      );
      logger.info({ needRestart: ignored }, 'config changed');
    },
  };
}

function reportWarnings({ config, warnings }: LoadedConfig, logger: Logger): void {
  for (const { code, message, file, line, keyPath } of warnings) {
    if (code !== 'noWhiteList') {
      logger.warn({ problem: message, code, file, line, key: keyPath }, 'config');
    }
  }
  const dialect = process.platform === 'win32' ? 'windows' : 'posix';
  for (const { message } of checkAllowedExecutables(allowedBy(config), dialect)) {
    logger.warn({ problem: message, key: 'white_list.processPaths' }, 'this entry allows nothing');
  }
  if (config.whiteList.processPaths.length === 0) {
    logger.warn({ key: 'white_list.processPaths' }, 'no program may run: the whitelist is empty');
  }
  if (config.whiteList.proxyPorts.length === 0) {
    logger.info({ key: 'white_list.proxyPorts' }, 'no port may be reached: the whitelist is empty');
  }
}
