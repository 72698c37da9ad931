/**
 * The one place where the libraries meet: a config becomes a daemon.
 */
import {
  changedKeys,
  type ConfigChange,
  type ConfigProblemCode,
  type LoadedConfig,
  type WinsConfig,
} from '@wins/config';
import { PipeError, runtimeDirectory } from '@wins/pipe-transport';
import { createCommandRunner, createProcessManager } from '@wins/process-manager';
import { hashFile } from '@wins/trusted-files';
import { adminPipeOf } from '@wins/wins-program';
import type { ClientIdentity } from './kernel/admission/client-identity.js';
import { AdminPipe } from './admin/admin-pipe.js';
import { AgentSwitch } from './features/agent/feature.js';
import { CsiProxySwitch } from './features/csi-proxy/feature.js';
import { auditDirectoryOf } from './audit/audit-directory.js';
import { AuditTrail } from '@wins/audit-log';
import { allowedBy, howToAllow } from './configuration/allowed-executables.js';
import { startDaemon, type Daemon } from './daemon.js';
import type { ConfigInForce } from './features/config/config-service.js';
import { hostSystem } from './host-system/select-host-system.js';
import type { LogLevel } from './log/log-level.js';
import type { Logger } from './log/logger.js';
import { logProcessEvent } from './log/process-events.js';
import { MetricsSwitch } from './features/metrics/feature.js';
import { DaemonEvents } from './kernel/daemon-events.js';
import { EventJournal } from './features/events/event-journal.js';
import { stateDirectoryOf } from './state-directory.js';
import { thisSystem } from './this-system.js';
import { TracingSwitch } from './features/tracing/feature.js';
import { withDaemonVariables } from './features/upgrade/daemon-variables.js';
import { sparingUpgrader } from './features/upgrade/sparing-upgrader.js';

/** A daemon and the way to give it another config while it serves. */
export interface ComposedDaemon {
  readonly daemon: Daemon;
  /** What happens in it, from its start to its end. */
  readonly events: DaemonEvents;
  /** What happened lately; the daemon closes it. */
  readonly journal: EventJournal;
  /** Open as long as the daemon is. */
  readonly audit: AuditTrail;
  /** Off until a config is applied. Closed before the daemon. */
  readonly agent: AgentSwitch;
  /** As the agent. Turned on first: what happens before is not counted. */
  readonly metrics: MetricsSwitch;
  /** As the agent. */
  readonly tracing: TracingSwitch;
  /** As the agent. */
  readonly csiProxy: CsiProxySwitch;
  /** Not open yet. Closed before the daemon. */
  readonly adminPipe: AdminPipe;
  /** Puts a new config in force, as far as that is possible without a restart. */
  readonly applyConfig: (loaded: LoadedConfig) => ConfigChange;
  /** The SHA-1 of the program that this daemon is; empty when it could not be read. */
  readonly checksum: Promise<string>;
  /** Gives free memory back to the system; undefined where that needs no call, or has none. */
  readonly trimMemory: (() => void) | undefined;
}

/**
 * Makes the parts of the daemon, joins them and starts to serve.
 *
 * @param level - How much the logger logs.
 * @param service - The service that this daemon is, if it is one.
 * @param reload - Loads the config again and applies it.
 * @throws PipeError when a pipe cannot be served.
 */
export async function composeDaemon(
  loaded: LoadedConfig,
  logger: Logger,
  level: LogLevel,
  service: string | undefined,
  reload: ConfigInForce['reload'],
): Promise<ComposedDaemon> {
  const { daemonParts, fileTrust } = await thisSystem();
  const system = daemonParts(logger, loaded.config.pipeAccess);
  reportWarnings(loaded, logger);
  let inForce = loaded;
  const { maxFileBytes, maxFiles } = loaded.config.audit;
  const directory = auditDirectoryOf(loaded.config);
  const prepareDirectory = (folder: string): void => fileTrust().ensurePrivateFolder(folder);
  const events = new DaemonEvents((err) =>
    logger.error({ err }, 'an event of the daemon could not be counted or kept'),
  );
  const { listen } = loaded.config;
  const journal = new EventJournal({ listen, prepareDirectory, events, logger });
  const audit = new AuditTrail(
    {
      ...{ directory, maxFileBytes, maxFiles, prepareDirectory },
      onDecision: (decision) => {
        events.publish({ type: 'decided', decision });
      },
      onLost: (count) => {
        events.publish({ type: 'auditLost', count });
      },
    },
    logger,
  );
  const clients = new Map<string, ClientIdentity>();
  const stateDirectory = stateDirectoryOf(loaded.config.listen);
  const program = process.argv[1] ?? process.execPath;
  const host = withDaemonVariables(sparingUpgrader(system.processHost, program, fileTrust()), {
    service,
    runtimeDirectory: ownRuntimeDirectory(),
  });
  const manager = createProcessManager({
    allowed: allowedBy(loaded.config),
    howToAllow: howToAllow(loaded.path),
    processEnvironment: loaded.config.processEnvironment,
    stateDirectory,
    host,
    ...(system.portOpener && { portOpener: system.portOpener }),
    onDecision: (record) => {
      const client = clients.get(record.requester);
      return audit.decided(
        { ...record, client: record.client ?? client?.description },
        client?.key,
      );
    },
    onEvent: (event) => {
      logProcessEvent(logger, event);
      events.publish({ type: 'run', event });
    },
  });
  const agent = new AgentSwitch({
    ...{ logger, audit, events, planFiles: system.planFiles },
    commands: createCommandRunner({ host, stateDirectory }),
    trust: fileTrust(),
  });
  const csiProxy = new CsiProxySwitch({ logger, audit, events, trust: fileTrust() });
  let readAtMs = Date.now();
  const metrics = new MetricsSwitch({
    logger,
    sources: () => ({
      events,
      figures: daemon.figures,
      runs: () => manager.list(),
      measure: () => manager.measure(),
      auditCounts: () => audit.counts,
      configReadAtMs: () => readAtMs,
      silentSince: () => agent.agent?.silentSince,
      probes: () =>
        (agent.agent?.sources() ?? []).flatMap(({ Probes: probes }) =>
          probes.map(({ Name: name, Healthy: healthy }) => ({ name, healthy })),
        ),
      csiProxyState: () => csiProxy.kept?.status.state.kind,
    }),
  });
  const config = { inForce: () => inForce, reload };
  // At the start: an upgrade replaces the file while the old daemon still runs.
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
    config,
    agent,
    csiProxy,
    metrics,
    events,
    journal,
  });
  const adminPipe = new AdminPipe({
    ...{ pipe: adminPipeOf(listen), security: undefined, identify: system.identify },
    ...system.adminPipe,
    ...{ config, manager, agent, csiProxy, metrics, journal, audit, logger, events, level },
    isWanted: () => inForce.config.debugPipe,
    connections: () => daemon.listConnections(),
    sessions: () => daemon.listSessions(),
    runs: () => manager.list(),
  });
  return {
    daemon,
    events,
    journal,
    audit,
    agent,
    metrics,
    tracing: new TracingSwitch({ logger, events }),
    csiProxy,
    adminPipe,
    checksum,
    trimMemory: system.trimMemory,
    applyConfig: (next) => {
      reportWarnings(next, logger);
      manager.setAllowed(allowedBy(next.config));
      manager.setProcessEnvironment(next.config.processEnvironment);
      daemon.allowPorts(next.config.whiteList.proxyPorts);
      daemon.allowRoutes(next.config.routes.allow);
      const change = changedKeys(next, inForce, loaded);
      inForce = next;
      readAtMs = Date.now();
      const { changed, needRestart } = change;
      const result = changed.length === 0 ? 'unchanged' : 'applied';
      events.publish({ type: 'configReloaded', result, changed });
      if (changed.length === 0) {
        logger.info({ needRestart }, 'config read again: nothing changed');
        return change;
      }
      logger.info({ changed, needRestart }, 'config changed');
      audit.note('configChanged', { changed, needRestart, ...granted(next.config) });
      return change;
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

/** What a warning of the config is called in the log; the rest is `config`. */
const HEADLINES: Readonly<Partial<Record<ConfigProblemCode, string>>> = {
  doubtful: 'this entry is doubtful',
  noEffect: 'this of the config has no effect',
  wrongValue: 'this entry can never match',
};

function reportWarnings({ config, warnings }: LoadedConfig, logger: Logger): void {
  for (const { code, message, file, line, keyPath, nextStep } of warnings) {
    if (code === 'noWhiteList') continue;
    const facts = { problem: message, code, file, line, key: keyPath, nextStep };
    logger.warn(facts, HEADLINES[code] ?? 'config');
  }
  if (config.whiteList.processPaths.length === 0) {
    logger.warn({ key: 'white_list.processPaths' }, 'no program may run: the whitelist is empty');
  }
  if (config.whiteList.proxyPorts.length === 0) {
    logger.info({ key: 'white_list.proxyPorts' }, 'no port may be reached: the whitelist is empty');
  }
}
