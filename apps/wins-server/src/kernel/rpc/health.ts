import { status, type Server } from '@grpc/grpc-js';
import { HealthStatus, healthServiceDefinition, type HealthServer } from '@wins/wins-api/contract';
import { rpcError } from './rpc-errors.js';

/** A watcher has only these fields, so that clients cannot make it hold more memory. */
interface Watcher {
  readonly service: string;
  readonly send: (status: HealthStatus) => void;
}

export class Health {
  #serving = false;
  readonly #services: readonly string[];
  /** Health of services that may fail on their own. */
  readonly #wellness = new Map<string, boolean>();
  readonly #watchers = new Set<Watcher>();

  /** `services` always have a status; the empty name means the whole daemon. */
  constructor(services: readonly string[]) {
    this.#services = services;
  }

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
        const { service } = call.request;
        const send = (now: HealthStatus): void => void call.write({ status: now });
        const watcher: Watcher = { service, send };
        this.#watchers.add(watcher);
        call.once('cancelled', () => this.#watchers.delete(watcher));
        send(this.#statusOf(service));
      },
    };
    server.addService(healthServiceDefinition, service);
  }

  /** `serving`: the daemon accepts new work. Notifies the watchers of each service whose status changes. */
  set(serving: boolean): void {
    this.#change(() => (this.#serving = serving));
  }

  /** Notifies the watchers. If `isWell` is undefined, the name of the service becomes unknown. */
  setWell(service: string, isWell: boolean | undefined): void {
    this.#change(() => {
      if (isWell === undefined) this.#wellness.delete(service);
      else this.#wellness.set(service, isWell);
    });
  }

  get #names(): readonly string[] {
    return [...new Set([...this.#services, ...this.#wellness.keys()])];
  }

  #statusOf(service: string): HealthStatus {
    if (!this.#names.includes(service)) return HealthStatus.SERVICE_UNKNOWN;
    const isServing = this.#serving && this.#wellness.get(service) !== false;
    return isServing ? HealthStatus.SERVING : HealthStatus.NOT_SERVING;
  }

  #change(action: () => void): void {
    const before = [...this.#watchers].map(({ service }) => this.#statusOf(service));
    action();
    for (const [index, { service, send }] of [...this.#watchers].entries()) {
      const now = this.#statusOf(service);
      if (now !== before[index]) send(now);
    }
  }
}
