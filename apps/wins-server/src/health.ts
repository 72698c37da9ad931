import type { Server } from '@grpc/grpc-js';
import type { HealthImplementation } from 'grpc-health-check';
import { addLazyService } from './lazy-service.js';

/** The services that health answers for; the empty name is the whole daemon. */
const SERVICES = [
  '',
  'wins.ApplicationService',
  'wins.HnsService',
  'wins.HostService',
  'wins.NetworkService',
  'wins.ProcessService',
  'wins.RouteService',
];

const PREFIX = '/grpc.health.v1.Health/';
const METHODS = [
  { path: `${PREFIX}Check`, requestStream: false, responseStream: false },
  { path: `${PREFIX}List`, requestStream: false, responseStream: false },
  { path: `${PREFIX}Watch`, requestStream: false, responseStream: true },
];

/** The standard health service, grpc.health.v1.Health. */
export class Health {
  private serving = false;
  private implementation: HealthImplementation | undefined;

  addTo(server: Server): void {
    addLazyService(server, METHODS, (sink) => {
      // eslint-disable-next-line @typescript-eslint/no-require-imports -- loaded by the first call
      const library = require('grpc-health-check') as typeof import('grpc-health-check');
      this.implementation = new library.HealthImplementation();
      this.tell();
      this.implementation.addToServer(sink);
    });
  }

  /** Tells all who ask, and all who watch, whether new work is taken. */
  set(serving: boolean): void {
    this.serving = serving;
    this.tell();
  }

  private tell(): void {
    for (const service of SERVICES) {
      this.implementation?.setStatus(service, this.serving ? 'SERVING' : 'NOT_SERVING');
    }
  }
}
