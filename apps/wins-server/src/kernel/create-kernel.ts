/** Parts that every daemon has, whatever its config. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { adminPipeOf, runtimeDirectory, TextError } from '@wins/base';
import { AdminPipe } from './admin-pipe.js';
import { AuditTrail } from './audit/audit-trail.js';
import type { LoadedConfig } from '@wins/config';
import { fileFingerprint, hashFile } from '@wins/trusted-files';
import { routeGrpcLog } from '@wins/wins-api';
import { auditDirectoryOf, stateDirectoryOf } from '../kept-directory.js';
import { HostCallGate } from './rpc/host-call-gate.js';
import type { CurrentTrace } from './rpc/trace-context.js';
import { sparingUpgrader, withDaemonVariables } from './process-hosts.js';
import { hostSystem } from './host-system/select-host-system.js';
import type { Logger, LogLevel } from './log/logger.js';
import type { OperatingSystem } from './operating-system.js';
import { ConfigInForce } from './config-in-force.js';
import { DaemonEvents } from './daemon-events.js';
import { FeatureSet } from './feature-set.js';
import type { Feature, Kernel, StartedConfig } from './feature.js';
import { daemonResources } from './admission/daemon-resources.js';
import { slowTurnLog } from './admission/slow-turn-watch.js';
import { ServedPipe } from './served-pipe.js';
import { collectReads } from './memory.js';

export interface KernelParts {
  readonly config: StartedConfig;
  readonly system: Pick<OperatingSystem, 'daemonParts' | 'fileTrust'>;
  readonly logger: Logger;
  readonly level: LogLevel;
  /** Absent: this daemon is no service. */
  readonly service?: string | undefined;
  /** Absent: no upgrade records are read. */
  readonly upgradeRecords?: string | undefined;
  readonly features: readonly Feature[];
  readonly onConfig: (next: LoadedConfig) => void;
}

/** Creates a kernel and those parts of the daemon that no feature can access. Opens nothing. */
export function createKernel(parts: KernelParts) {
  const { logger, level, service, upgradeRecords, onConfig } = parts;
  const { config: loaded } = parts.config.loaded;
  const { listen } = loaded;
  const system = parts.system.daemonParts(logger, loaded.pipeAccess);
  const trust = parts.system.fileTrust();
  const events = new DaemonEvents((err) => logger.error({ err }, 'cannot count or keep an event'));
  const currentTrace: CurrentTrace = new AsyncLocalStorage();
  const { maxFileBytes, maxFiles } = loaded.audit;
  const audit = new AuditTrail(
    {
      directory: auditDirectoryOf(loaded),
      maxFileBytes,
      maxFiles,
      prepareDirectory: (folder) => trust.ensurePrivateFolder(folder),
      onDecision: (decision) => events.publish({ type: 'decided', decision }),
      traceId: () => currentTrace.getStore()?.traceId,
      onLost: (count) => events.publish({ type: 'auditLost', count }),
    },
    logger,
  );
  const config = new ConfigInForce({
    start: parts.config,
    logger,
    events,
    audit,
    onConfig,
    features: () => features,
  });
  const resources = daemonResources(logger, loaded.tunnel.maxSessions);
  routeGrpcLog((line) => logger.debug({ line }, 'gRPC'));
  const pipe = new ServedPipe({
    kind: 'main',
    what: 'gRPC pipe',
    read: collectReads(),
    turnEnded: slowTurnLog(logger),
    pipe: listen,
    security: system.pipeSecurity,
    identify: system.identify,
    logger,
    events,
    resources,
    currentTrace,
  });
  const adminPipe = new AdminPipe({
    pipe: adminPipeOf(listen),
    security: undefined,
    identify: pipe.identify,
    logger,
    events,
    resources,
    currentTrace,
    ...system.adminPipe,
    addServices: (server, callers) => features.addServices(server, 'admin', callers),
  });
  const program = process.argv[1] ?? process.execPath;
  const kernel: Kernel = {
    logger,
    level,
    events,
    audit,
    trust,
    system,
    config,
    service,
    upgradeRecords,
    program,
    pipe,
    resources,
    clientNamed: (name) => pipe.connections.clientNamed(name) ?? adminPipe.clientNamed(name),
    hostCalls: new HostCallGate({
      host: hostSystem(process.platform),
      connections: pipe.connections,
      calls: resources.hostCalls,
      audit: (record, client) => audit.decided(record, client),
    }),
    processHost: withDaemonVariables(sparingUpgrader(system.processHost, program, trust), {
      service,
      runtimeDirectory: ownRuntimeDirectory(),
    }),
    stateDirectory: stateDirectoryOf(listen),
    // Read now, because an upgrade replaces the file while this daemon runs.
    programFingerprint: fileFingerprint(program, { followLinks: true }),
    checksum: hashFile(program, ['sha1'], { followLinks: true }).then(
      ({ sha1 }) => sha1,
      () => '',
    ),
    of: (feature) => features.of(feature),
    features: () => features.list(),
    conditions: () => features.conditions(),
  };
  const features = new FeatureSet(parts.features, kernel);
  return { kernel, features, pipe, adminPipe, config };
}

/** Returns the folder for bare pipe names, if there is one. */
function ownRuntimeDirectory(): string | undefined {
  if (process.platform === 'win32') return undefined;
  try {
    return runtimeDirectory();
  } catch (error) {
    if (error instanceof TextError) return undefined;
    throw error;
  }
}
