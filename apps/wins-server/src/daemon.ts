import { ServerCredentials, type Server, type ServerOptions } from '@grpc/grpc-js';
import type { LoadedConfig } from '@wins/config';
import { listenPipe, type PipeListener } from '@wins/pipe-transport';
import type { ProcessManager } from '@wins/process-manager';
import {
  applicationServiceDefinition,
  hnsServiceDefinition,
  hostServiceDefinition,
  networkServiceDefinition,
  processServiceDefinition,
  routeServiceDefinition,
} from '@wins/wins-api';
import type { Socket } from 'node:net';
import { Connections } from './connections.js';
import { createGuardedServer } from './guarded-server.js';
import { Health } from './health.js';
import type { HostSystem } from './host-system/host-system.js';
import type { Logger } from './logger.js';
import { addReflection } from './reflection.js';
import { createApplicationService } from './services/application-service.js';
import { HostCalls } from './services/host-calls.js';
import { createHnsService } from './services/hns-service.js';
import { createHostService } from './services/host-service.js';
import { createNetworkService } from './services/network-service.js';
import { createProcessService } from './services/process-service.js';
import { createRouteService } from './services/route-service.js';
import type { SystemParts } from './system-parts.js';
import { openTunnelEndpoint, type TunnelEndpoint } from './tunnel-endpoint.js';

/** How long answers may still be on their way once all processes have ended. */
const DRAIN_MS = 2000;

/**
 * Bounds on what one client can make the daemon hold. A connection whose peer answers no ping for
 * 80 s counts as broken: its processes are stopped. One that makes no call for 10 minutes is closed;
 * a client that has more to ask connects again.
 */
const LIMITS: ServerOptions = {
  'grpc.max_receive_message_length': 1024 * 1024,
  'grpc.max_concurrent_streams': 256,
  'grpc.keepalive_time_ms': 60_000,
  'grpc.keepalive_timeout_ms': 20_000,
  'grpc.max_connection_idle_ms': 600_000,
};

/** What a daemon is made of. */
export interface DaemonParts {
  readonly loaded: LoadedConfig;
  readonly manager: ProcessManager;
  readonly system: Pick<SystemParts, 'pipeSecurity' | 'portOpener'>;
  readonly hostSystem: HostSystem;
  readonly logger: Logger;
  /** The SHA-1 of the file that this daemon is; empty when it could not be read. */
  readonly checksum: Promise<string>;
}

/** A daemon that serves. */
export interface Daemon {
  /** Where it serves gRPC. */
  readonly address: string;
  /** Where it serves the tunnel. */
  readonly tunnelAddress: string;
  /** Replaces the ports that the tunnel may reach, for streams to come. */
  allowPorts(ports: readonly number[]): void;
  /** Takes no new work, stops all processes, lets answers and streams out, and closes. Idempotent. */
  close(): Promise<void>;
}

/**
 * Serves both pipes, or neither.
 *
 * The order matters: whoever has the pipe is the only daemon of that name, so what an earlier one
 * left behind is ended after the pipe is ours and before a client is served.
 *
 * @throws PipeError when a pipe cannot be served.
 */
export async function startDaemon(parts: DaemonParts): Promise<Daemon> {
  const { manager, logger, loaded, system } = parts;
  const connections = new Connections();
  const health = new Health();
  const server = createGuardedServer(LIMITS);
  server.addService(applicationServiceDefinition, createApplicationService(parts.checksum));
  server.addService(processServiceDefinition, createProcessService(manager, connections));
  const hostCalls = new HostCalls(parts.hostSystem, connections, (record) =>
    logger.info({ audit: true, ...record }, 'decision'),
  );
  server.addService(hostServiceDefinition, createHostService(hostCalls));
  server.addService(networkServiceDefinition, createNetworkService(hostCalls));
  server.addService(hnsServiceDefinition, createHnsService(hostCalls));
  server.addService(routeServiceDefinition, createRouteService(hostCalls));
  health.addTo(server);
  addReflection(server);
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());

  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const serve = async (socket: Socket): Promise<void> => {
    const stream = await connections.admit(socket);
    await opened;
    if (stream?.destroyed === false) injector.injectConnection(stream);
  };

  const listener: PipeListener = await listenPipe(loaded.config.listen, {
    onConnection: (socket) => void serve(socket),
    onError: (error) => logger.debug({ err: error, code: error.code }, 'pipe'),
    security: system.pipeSecurity,
  });
  let tunnel: TunnelEndpoint;
  try {
    await manager.recover();
    // Not waited for: a firewall that hangs is no reason either.
    void sweepPorts(system, logger);
    tunnel = await openTunnelEndpoint({
      pipe: loaded.config.proxy,
      allowedPorts: loaded.config.whiteList.proxyPorts,
      limits: loaded.config.tunnel,
      security: system.pipeSecurity,
      logger,
    });
  } catch (error) {
    await listener.close();
    throw error;
  }
  health.set(true);
  open();

  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    health.set(false);
    const tunnelClosed = tunnel.close();
    await manager.close();
    await shutDown(server);
    injector.destroy();
    await Promise.all([listener.close(), tunnelClosed]);
  };
  return {
    address: listener.path.address,
    tunnelAddress: tunnel.address,
    allowPorts: (ports) => tunnel.allowPorts(ports),
    close: () => (closing ??= close()),
  };
}

/** A firewall that cannot be cleaned is no reason to leave a node without its daemon. Never rejects. */
async function sweepPorts({ portOpener }: DaemonParts['system'], logger: Logger): Promise<void> {
  try {
    const runIds = (await portOpener?.sweep([])) ?? [];
    if (runIds.length > 0) logger.warn({ runIds }, 'closed the ports of runs that are gone');
  } catch (err) {
    logger.error({ err }, 'cannot close the ports of runs that are gone');
  }
}

/** Lets calls that are under way end; those that do not in time are cut. */
async function shutDown(server: Server): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  await new Promise<void>((resolve) => {
    timer = setTimeout(resolve, DRAIN_MS);
    server.tryShutdown(() => resolve());
  });
  clearTimeout(timer);
  server.forceShutdown();
}
