import { status, type Server } from '@grpc/grpc-js';
import { HealthStatus, healthServiceDefinition, type HealthServer } from '@wins/wins-api/contract';
import { rpcError } from './rpc-errors.js';

/** Whether the node follows its plans; SERVING as well while it is to follow none. */
const PLANS = 'wins.PlanService';
/** Whether the server of the plans is connected; a daemon that is to follow no server does not know the name. */
const SERVER_OF_PLANS = 'wins.PlanService.Server';
/** Whether csi-proxy is as the config wants it; SERVING as well while none is wanted. */
const CSI_PROXY = 'wins.CsiProxyService';
/** Whether the config file is what the daemon serves with; not so while it cannot be used and the config before it is in force. */
const CONFIG = 'wins.ConfigService';
/** The services that health answers for; the empty name is the whole daemon. */
const SERVICES: readonly string[] = [
  '',
  'wins.ApplicationService',
  CONFIG,
  CSI_PROXY,
  'wins.EventsService',
  'wins.HnsService',
  'wins.HostService',
  'wins.MetricsService',
  'wins.NetworkService',
  PLANS,
  'wins.ProcessService',
  'wins.RouteService',
  'wins.RunStats',
];

/** Calls of Watch at a time, in all and of one connection. What each holds does not depend on what its client sent. */
const MAX_WATCHERS = 64;
const MAX_WATCHERS_OF_CONNECTION = 4;

/** A call of Watch. */
interface Watcher {
  readonly peer: string;
  readonly service: string;
  /** Sends a change: a few octets. */
  readonly send: (status: HealthStatus) => void;
}

/** The standard health service, grpc.health.v1.Health. */
export class Health {
  #serving = false;
  /** Services with something of their own that is not well. */
  readonly #unwell = new Set<string>();
  #hasServer = false;
  readonly #watchers = new Set<Watcher>();

  addTo(server: Server): void {
    const service: HealthServer = {
      check: (call, respond) => {
        const { service } = call.request;
        const found = this.#statusOf(service);
        if (found !== HealthStatus.SERVICE_UNKNOWN) respond(null, { status: found });
        else respond(rpcError(status.NOT_FOUND, 'notFound', 'there is no service of this name'));
      },
      list: (_call, respond) => {
        const statuses = this.#names.map(
          (name) => [name, { status: this.#statusOf(name) }] as const,
        );
        respond(null, { statuses: Object.fromEntries(statuses) });
      },
      watch: (call) => {
        const peer = call.getPeer();
        const refusal = this.#refusal(peer);
        if (refusal !== undefined) {
          call.emit('error', rpcError(status.RESOURCE_EXHAUSTED, 'tooManyWatchers', refusal));
          return;
        }
        const { service } = call.request;
        const send = (now: HealthStatus): void => void call.write({ status: now });
        const watcher: Watcher = { peer, service, send };
        this.#watchers.add(watcher);
        call.once('cancelled', () => this.#watchers.delete(watcher));
        send(this.#statusOf(service));
      },
    };
    server.addService(healthServiceDefinition, service);
  }

  /** Sets whether new work is taken, and sends that to all watchers. */
  set(serving: boolean): void {
    this.#change(() => (this.#serving = serving));
  }

  /** Sets whether plans are followed as they should be, and sends that to the watchers of `wins.PlanService`. */
  setFollowsPlans(follows: boolean): void {
    this.#setWell(PLANS, follows);
  }

  /** Sets whether the server of the plans is connected; undefined while there is none. Sends that to who watches it. */
  setServerOfPlans(isConnected: boolean | undefined): void {
    this.#change(() => {
      this.#hasServer = isConnected !== undefined;
      if (isConnected === false) this.#unwell.add(SERVER_OF_PLANS);
      else this.#unwell.delete(SERVER_OF_PLANS);
    });
  }

  /** Sets whether the config file can be used, and sends that to the watchers of `wins.ConfigService`. */
  setConfigIsGood(isGood: boolean): void {
    this.#setWell(CONFIG, isGood);
  }

  /** Sets whether csi-proxy is as it should be, and sends that to the watchers of `wins.CsiProxyService`. */
  setKeepsCsiProxy(keeps: boolean): void {
    this.#setWell(CSI_PROXY, keeps);
  }

  #setWell(service: string, isWell: boolean): void {
    this.#change(() => {
      if (isWell) this.#unwell.delete(service);
      else this.#unwell.add(service);
    });
  }

  get #names(): readonly string[] {
    return this.#hasServer ? [...SERVICES, SERVER_OF_PLANS] : SERVICES;
  }

  #statusOf(service: string): HealthStatus {
    if (!this.#names.includes(service)) return HealthStatus.SERVICE_UNKNOWN;
    const isServing = this.#serving && !this.#unwell.has(service);
    return isServing ? HealthStatus.SERVING : HealthStatus.NOT_SERVING;
  }

  #change(act: () => void): void {
    const before = [...this.#watchers].map(({ service }) => this.#statusOf(service));
    act();
    for (const [index, { service, send }] of [...this.#watchers].entries()) {
      const now = this.#statusOf(service);
      if (now !== before[index]) send(now);
    }
  }

  #refusal(peer: string): string | undefined {
    if (this.#watchers.size >= MAX_WATCHERS)
      return `cannot watch health: found ${MAX_WATCHERS} calls that do; wanted fewer`;
    const own = [...this.#watchers].filter((other) => other.peer === peer).length;
    if (own < MAX_WATCHERS_OF_CONNECTION) return undefined;
    return `cannot watch health: found ${own} calls of this connection that do; wanted fewer`;
  }
}
