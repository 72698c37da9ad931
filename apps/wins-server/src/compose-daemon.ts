/**
 * The one place where the libraries meet: a config becomes a daemon.
 */
import type { LoadedConfig, WinsConfig } from '@wins/config';
import { PipeError, runtimeDirectory } from '@wins/pipe-transport';
import { createProcessManager } from '@wins/process-manager';
import { hashFile } from '@wins/trusted-files';
import { isDeepStrictEqual } from 'node:util';
import type { ClientIdentity } from './admission/client-identity.js';
import { auditDirectoryOf } from './audit/audit-directory.js';
import { AuditTrail } from './audit/audit-trail.js';
import {
  allowedBy,
  doubtfulEntries,
  faultyEntries,
  howToAllow,
} from './configuration/allowed-executables.js';
import { startDaemon, type Daemon } from './daemon.js';
import { hostSystem } from './host-system/select-host-system.js';
import type { Logger } from './log/logger.js';
import { logProcessEvent } from './log/process-events.js';
import { stateDirectoryOf } from './state-directory.js';
import { thisSystem } from './this-system.js';
import { withDaemonVariables } from './upgrade/daemon-variables.js';

/** A daemon and the way to give it another config while it serves. */
export interface ComposedDaemon {
  readonly daemon: Daemon;
  /** Open as long as the daemon is. */
  readonly audit: AuditTrail;
  /** Puts a new config in force, as far as that is possible without a restart. */
  readonly applyConfig: (loaded: LoadedConfig) => void;
  /** The SHA-1 of the program that this daemon is; empty when it could not be read. */
  readonly checksum: Promise<string>;
  /** Gives free memory back to the system; undefined where that needs no call, or has none. */
  readonly trimMemory: (() => void) | undefined;
}

/** Settings that are read once, when the pipes are opened. */
const READ_AT_START = [
  'listen',
  'proxy',
  'pipeAccess',
  'tunnel',
  'audit',
  'reflection',
] as const satisfies readonly (keyof WinsConfig)[];

/**
 * Makes the parts of the daemon, joins them and starts to serve.
 *
 * @param service - The service that this daemon is, if it is one.
 * @throws PipeError when a pipe cannot be served.
 */
export async function composeDaemon(
  loaded: LoadedConfig,
  logger: Logger,
  service?: string,
): Promise<ComposedDaemon> {
  const { daemonParts, fileTrust } = await thisSystem();
  const system = daemonParts(logger, loaded.config.pipeAccess);
  const tellsClientsApart = (): boolean => system.identify !== undefined;
  reportWarnings(loaded, logger, tellsClientsApart);
  const { maxFileBytes, maxFiles } = loaded.config.audit;
  const directory = auditDirectoryOf(loaded.config);
  const prepareDirectory = (folder: string): void => fileTrust().ensurePrivateFolder(folder);
  const audit = new AuditTrail({ directory, maxFileBytes, maxFiles, prepareDirectory }, logger);
  const clients = new Map<string, ClientIdentity>();
  const manager = createProcessManager({
    allowed: allowedBy(loaded.config),
    howToAllow: howToAllow(loaded.path),
    processEnvironment: loaded.config.processEnvironment,
    stateDirectory: stateDirectoryOf(loaded.config.listen),
    host: withDaemonVariables(system.processHost, {
      service,
      runtimeDirectory: ownRuntimeDirectory(),
    }),
    ...(system.portOpener && { portOpener: system.portOpener }),
    onDecision: (record) => {
      const client = clients.get(record.requester);
      return audit.decided(
        { ...record, client: record.client ?? client?.description },
        client?.key,
      );
    },
    onEvent: (event) => logProcessEvent(logger, event),
  });
  // At the start: an upgrade replaces the file while the old daemon still runs.
  const program = process.argv[1] ?? process.execPath;
  const checksum = hashFile(program, ['sha1'], { followLinks: true }).then(
    ({ sha1 }) => sha1,
    () => '',
  );
  const daemon = await startDaemon({
    loaded,
    manager,
    clients,
    system,
    hostSystem: hostSystem(process.platform),
    audit,
    logger,
    checksum,
  });
  return {
    daemon,
    audit,
    checksum,
    trimMemory: system.trimMemory,
    applyConfig: (next) => {
      reportWarnings(next, logger, tellsClientsApart);
      manager.setAllowed(allowedBy(next.config));
      manager.setProcessEnvironment(next.config.processEnvironment);
      daemon.allowPorts(next.config.whiteList.proxyPorts);
      daemon.allowRoutes(next.config.routes.allow);
      const ignored = READ_AT_START.filter(
        (key) => !isDeepStrictEqual(next.config[key], loaded.config[key]),
      );
      logger.info({ needRestart: ignored }, 'config changed');
      audit.note('configChanged', { needRestart: ignored, ...granted(next.config) });
    },
  };
}

/** Where bare names of pipes are; a daemon whose pipes are paths may have no such folder. */
function ownRuntimeDirectory(): string | undefined {
  if (process.platform === 'win32') return undefined;
  try {
    return runtimeDirectory();
  } catch (error) {
    if (error instanceof PipeError) return undefined;
    throw error;
  }
}

/** What a config lets clients do, for the audit log. */
function granted({ whiteList, routes }: WinsConfig) {
  return {
    processPaths: whiteList.processPaths.map(({ path }) => path),
    proxyPorts: whiteList.proxyPorts,
    routes: routes.allow,
  };
}

function reportWarnings(
  { config, warnings }: LoadedConfig,
  logger: Logger,
  tellsClientsApart: () => boolean,
): void {
  for (const { code, message, file, line, keyPath } of warnings) {
    if (code !== 'noWhiteList') {
      logger.warn({ problem: message, code, file, line, key: keyPath }, 'config');
    }
  }
  for (const { message } of faultyEntries(config)) {
    logger.warn({ problem: message, key: 'white_list.processPaths' }, 'this entry can never match');
  }
  for (const { message } of doubtfulEntries(config, tellsClientsApart)) {
    logger.warn({ problem: message, key: 'white_list.processPaths' }, 'this entry is doubtful');
  }
  if (config.whiteList.processPaths.length === 0) {
    logger.warn({ key: 'white_list.processPaths' }, 'no program may run: the whitelist is empty');
  }
  if (config.whiteList.proxyPorts.length === 0) {
    logger.info({ key: 'white_list.proxyPorts' }, 'no port may be reached: the whitelist is empty');
  }
}
