import type { LoadedConfig } from '@wins/config';
import { listenPipe, type PipeListener } from '@wins/pipe-transport';
import type { ProcessManager } from '@wins/process-manager';
import { routeGrpcLog } from '@wins/wins-api';
import {
  applicationServiceDefinition,
  hnsServiceDefinition,
  hostServiceDefinition,
  networkServiceDefinition,
  routeServiceDefinition,
  runStatsDefinition,
} from '@wins/wins-api/contract';
import type { Socket } from 'node:net';
import { type ClientIdentity, EVERYBODY } from './kernel/admission/client-identity.js';
import { ClientTurns } from './kernel/admission/client-turns.js';
import { Places } from './kernel/admission/places.js';
import { tallyLog } from './kernel/admission/tally.js';
import type { AuditTrail } from '@wins/audit-log';
import { addAdminServices } from './admin/admin-services.js';
import { noteAdministrators } from './admin/note-administrators.js';
import type { AgentSwitch } from './features/agent/feature.js';
import type { CsiProxySwitch } from './features/csi-proxy/feature.js';
import { DaemonEvents } from './kernel/daemon-events.js';
import type { EventJournal } from './features/events/event-journal.js';
import { adminPipeOf } from '@wins/wins-program';
import { collectReads } from './kernel/service-runtime/memory/memory-return.js';
import { slowTurnLog } from './admission/slow-turn-watch.js';
import { createCallServer } from './rpc/call-server.js';
import { Connections, type OpenConnection } from './rpc/connections.js';
import { Health } from './rpc/health.js';
import type { HostSystem } from './kernel/host-system/host-system.js';
import type { Logger } from './log/logger.js';
import type { MetricsSwitch } from './features/metrics/feature.js';
import { addReflection } from './features/reflection/reflection.js';
import { createApplicationService } from './rpc/application-service.js';
import type { ConfigInForce } from './features/config/config-service.js';
import { HostCallGate } from './features/host/host-call-gate.js';
import { createHnsService } from './features/host/hns-service.js';
import { createHostService } from './features/host/host-service.js';
import { createNetworkService } from './features/host/network-service.js';
import { createProcessService, servedProcessDefinition } from './features/runs/process-service.js';
import { createRouteService } from './features/routes/route-service.js';
import { createRunStatsService } from './features/runs/run-stats-service.js';
import type { DaemonSystem } from './operating-system.js';
import {
  openTunnelEndpoint,
  type OpenSession,
  type TunnelEndpoint,
} from './features/tunnel/tunnel-endpoint.js';
import type { DaemonFigures } from './features/metrics/metrics-sources.js';

/** How long answers may still be on their way once all processes have ended. */
const DRAIN_MS = 2000;

/** Connections of the gRPC pipe: a client has work for few, and one that takes them all must not keep others out. */
const ROOM = { places: 1024, placesPerClient: 256, greetings: 256 };

/** What a daemon is made of. */
export interface DaemonParts {
  readonly loaded: LoadedConfig;
  readonly manager: ProcessManager;
  /** The daemon keeps in it whose each connection of the gRPC pipe is, by its name `pipe:N`. */
  readonly clients: Map<string, ClientIdentity>;
  readonly system: Pick<DaemonSystem, 'pipeSecurity' | 'portOpener' | 'identify'>;
  readonly hostSystem: HostSystem;
  /** Not open yet: the daemon opens and closes it. */
  readonly audit: AuditTrail;
  readonly logger: Logger;
  /** The SHA-1 of the file that this daemon is; empty when it could not be read. */
  readonly checksum: Promise<string>;
  /** The config in force, and how it is loaded again. Default: the config of the start, which stays. */
  readonly config?: ConfigInForce;
  /** What follows the plans of the node; its owner turns it on and off. Default: nothing does. */
  readonly agent?: AgentSwitch;
  /** What keeps csi-proxy; its owner turns it on and off. Default: nothing does. */
  readonly csiProxy?: CsiProxySwitch;
  /** Keeps the metrics; its owner turns it on and off. Default: nothing does. */
  readonly metrics?: MetricsSwitch;
  /** What happens here is told to them. Default: to nobody. */
  readonly events?: DaemonEvents;
  /** What happened lately; the daemon closes it. Default: that is not kept. */
  readonly journal?: EventJournal;
}

/** A daemon that serves. */
export interface Daemon {
  /** Where it serves gRPC. */
  readonly address: string;
  /** Where it serves the tunnel. */
  readonly tunnelAddress: string;
  readonly figures: DaemonFigures;
  /** The connections of the gRPC pipe, the oldest first. */
  listConnections(): readonly OpenConnection[];
  /** The sessions of the tunnel, the oldest first. */
  listSessions(): readonly OpenSession[];
  /** Replaces the ports that the tunnel may reach, for streams to come. */
  allowPorts(ports: readonly number[]): void;
  /** Replaces the networks into which routes may be changed, for calls to come. */
  allowRoutes(networks: readonly string[]): void;
  /** Says whether the config file can be used, for those who watch the health of it. */
  setConfigIsGood(isGood: boolean): void;
  /** Takes no new work, stops all processes, lets answers and streams out, and closes. Idempotent. */
  close(): Promise<void>;
}

/**
 * Serves both pipes, or neither.
 *
 * The order matters: the daemon that has the pipe is the only one of that name, so what an earlier one
 * left behind is ended after the pipe is ours and before a client is served.
 *
 * @throws PipeError when a pipe cannot be served.
 */
export async function startDaemon(parts: DaemonParts): Promise<Daemon> {
  const { manager, clients, logger, loaded, system, audit, events = new DaemonEvents() } = parts;
  routeGrpcLog((line) => logger.debug({ line }, 'gRPC'));
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const calls = createCallServer();
  const { server } = calls;
  const paused = tallyLog(
    logger,
    'warn',
    'a client was paused: it used its share of the processor',
  );
  const turns = new ClientTurns({
    ended: slowTurnLog(logger),
    paused: ({ key, description: client }) => paused.add(key, { client }),
  });
  const connections = new Connections(
    calls,
    opened,
    logger,
    clients,
    turns,
    collectReads(),
    events,
  );
  const identify = system.identify ?? (() => EVERYBODY);
  const health = new Health();
  server.addService(applicationServiceDefinition, createApplicationService(parts.checksum));
  server.addService(servedProcessDefinition, createProcessService(manager, connections));
  server.addService(runStatsDefinition, createRunStatsService({ manager, connections }));
  const config = parts.config ?? {
    inForce: () => loaded,
    reload: () => Promise.reject(new Error('this daemon does not reload its config')),
  };
  const { agent = { agent: undefined, reason: 'this daemon has none', isStrict: false } } = parts;
  if (parts.agent !== undefined) {
    const { agent: plans } = parts;
    plans.onChange = () => {
      health.setFollowsPlans(plans.isWell);
      health.setServerOfPlans(plans.isConnected);
    };
  }
  const { csiProxy = { kept: undefined, reason: 'this daemon does not keep it' } } = parts;
  if (parts.csiProxy !== undefined) {
    const { csiProxy: keeper } = parts;
    keeper.onChange = () => health.setKeepsCsiProxy(keeper.isWell);
  }
  const { journal, metrics = { running: undefined, reason: 'this daemon keeps none' } } = parts;
  const callers = noteAdministrators(connections, logger, adminPipeOf(loaded.config.listen));
  const administered = { config, manager, agent, csiProxy, metrics, journal, audit, logger };
  addAdminServices(server, callers, administered);
  const hostCalls = new HostCallGate(parts.hostSystem, connections, (record, client) =>
    audit.decided(record, client),
  );
  let granted = loaded.config.routes.allow;
  server.addService(hostServiceDefinition, createHostService(hostCalls));
  server.addService(networkServiceDefinition, createNetworkService(hostCalls));
  server.addService(hnsServiceDefinition, createHnsService(hostCalls));
  server.addService(
    routeServiceDefinition,
    createRouteService(hostCalls, () => granted),
  );
  health.addTo(server);
  if (loaded.config.reflection) addReflection(server);
  const turnedAway = tallyLog(logger, 'warn', 'connections were turned away');
  const places = new Places({
    ...ROOM,
    turnedAway: ({ key, description: client }, why) => {
      turnedAway.add(`${why} ${key}`, { pipe: 'gRPC', why, client });
      events.publish({ type: 'connection', pipe: 'main', phase: 'refused', rule: why });
    },
  });
  const serve = (socket: Socket): void => {
    const client = identify(socket);
    connections.admit(socket, client, places.enter(socket, client));
  };
  const listener: PipeListener = await listenPipe(loaded.config.listen, {
    onConnection: serve,
    maxConnections: ROOM.places + ROOM.greetings,
    onError: (error) => logger.debug({ err: error, code: error.code }, 'pipe'),
    security: system.pipeSecurity,
  });
  logger.debug({ address: listener.path.address }, 'the gRPC pipe is open');
  // Healthy means that it takes new work, and that its acts can be recorded.
  let isOpen = false;
  const updateHealth = (): void => health.set(isOpen && audit.isAvailable);
  let tunnel: TunnelEndpoint;
  try {
    await audit.open(updateHealth);
    const recovered = await manager.recover();
    logger.debug({ ended: recovered.length }, 'checked for processes of earlier daemons');
    // Not awaited: a firewall that hangs must not delay the daemon.
    void sweepPorts(system, logger);
    tunnel = await openTunnelEndpoint({
      pipe: loaded.config.proxy,
      allowedPorts: loaded.config.whiteList.proxyPorts,
      limits: loaded.config.tunnel,
      security: system.pipeSecurity,
      identify,
      turns,
      audit,
      logger,
      events,
    });
  } catch (error) {
    await audit.close();
    await journal?.close();
    await listener.close();
    throw error;
  }
  isOpen = true;
  updateHealth();
  open();

  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    isOpen = false;
    updateHealth();
    const tunnelClosed = tunnel.close();
    await manager.close();
    // What was sent before the end is read.
    turns[Symbol.dispose]();
    await connections.close(DRAIN_MS);
    await tunnelClosed;
    // Before the pipe: the next daemon that has it writes to the same folders.
    await audit.close();
    await journal?.close();
    await listener.close();
    turnedAway[Symbol.dispose]();
    paused[Symbol.dispose]();
  };
  return {
    address: listener.path.address,
    tunnelAddress: tunnel.address,
    figures: {
      get connections() {
        return connections.size;
      },
      tunnel: tunnel.figures,
    },
    listConnections: () => connections.list(),
    listSessions: () => tunnel.list(),
    allowPorts: (ports) => tunnel.allowPorts(ports),
    allowRoutes: (networks) => {
      granted = networks;
    },
    setConfigIsGood: (isGood) => health.setConfigIsGood(isGood),
    close: () => (closing ??= close()),
  };
}

/** Closes the ports of runs that are gone. A failure is logged: the node needs its daemon in any case. Never rejects. */
async function sweepPorts({ portOpener }: DaemonParts['system'], logger: Logger): Promise<void> {
  try {
    const marks = (await portOpener?.sweep([])) ?? [];
    if (marks.length > 0)
      logger.warn({ marks }, 'closed the firewall ports of runs that have ended');
  } catch (err) {
    logger.error({ err }, 'cannot close the firewall ports of runs that have ended');
  }
}
