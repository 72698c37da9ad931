import type { Server } from '@grpc/grpc-js';
import { HealthImplementation } from 'grpc-health-check';

/** The services that health answers for; the empty name is the whole daemon. */
const SERVICES = ['', 'wins.ApplicationService', 'wins.ProcessService'];

/** The standard health service, grpc.health.v1.Health. */
export class Health {
  private readonly implementation = new HealthImplementation(
    Object.fromEntries(SERVICES.map((service) => [service, 'NOT_SERVING' as const])),
  );

  addTo(server: Server): void {
    this.implementation.addToServer(server);
  }

  /** Tells all who ask, and all who watch, whether new work is taken. */
  set(serving: boolean): void {
    for (const service of SERVICES) {
      this.implementation.setStatus(service, serving ? 'SERVING' : 'NOT_SERVING');
    }
  }
}
