import { status, type Server } from '@grpc/grpc-js';
import {
  HealthStatus,
  healthServiceDefinition,
  type HealthCheckResponse,
  type HealthServer,
} from '@wins/wins-api';
import { rpcError } from './rpc-errors.js';

/** The services that health answers for; the empty name is the whole daemon. */
const SERVICES: readonly string[] = [
  '',
  'wins.ApplicationService',
  'wins.ConfigService',
  'wins.HnsService',
  'wins.HostService',
  'wins.NetworkService',
  'wins.ProcessService',
  'wins.RouteService',
];

/** Calls of Watch at a time, in all and of one connection. What each holds does not depend on what its client sent. */
const MAX_WATCHERS = 64;
const MAX_WATCHERS_OF_CONNECTION = 4;

/** Sends a change to one watcher: a few octets. */
type Watcher = (serving: boolean) => void;

/** The standard health service, grpc.health.v1.Health. */
export class Health {
  #serving = false;
  /** Each watcher with its connection. */
  readonly #watchers = new Map<Watcher, string>();

  addTo(server: Server): void {
    const service: HealthServer = {
      check: (call, respond) => {
        if (SERVICES.includes(call.request.service)) respond(null, answer(this.#serving));
        else respond(rpcError(status.NOT_FOUND, 'notFound', 'there is no service of this name'));
      },
      list: (_call, respond) => {
        const statuses = SERVICES.map((name) => [name, answer(this.#serving)] as const);
        respond(null, { statuses: Object.fromEntries(statuses) });
      },
      watch: (call) => {
        const peer = call.getPeer();
        const refusal = this.#refusal(peer);
        if (refusal !== undefined) {
          call.emit('error', rpcError(status.RESOURCE_EXHAUSTED, 'tooManyWatchers', refusal));
          return;
        }
        const isKnown = SERVICES.includes(call.request.service);
        const watcher: Watcher = (serving) => {
          if (isKnown) call.write(answer(serving));
        };
        this.#watchers.set(watcher, peer);
        call.once('cancelled', () => this.#watchers.delete(watcher));
        call.write(isKnown ? answer(this.#serving) : { status: HealthStatus.SERVICE_UNKNOWN });
      },
    };
    server.addService(healthServiceDefinition, service);
  }

  /** Sets whether new work is taken, and sends that to all watchers. */
  set(serving: boolean): void {
    if (serving === this.#serving) return;
    this.#serving = serving;
    for (const watcher of this.#watchers.keys()) watcher(serving);
  }

  #refusal(peer: string): string | undefined {
    if (this.#watchers.size >= MAX_WATCHERS)
      return `cannot watch health: found ${MAX_WATCHERS} calls that do; wanted fewer`;
    const own = [...this.#watchers.values()].filter((other) => other === peer).length;
    if (own < MAX_WATCHERS_OF_CONNECTION) return undefined;
    return `cannot watch health: found ${own} calls of this connection that do; wanted fewer`;
  }
}

function answer(serving: boolean): HealthCheckResponse {
  return { status: serving ? HealthStatus.SERVING : HealthStatus.NOT_SERVING };
}
