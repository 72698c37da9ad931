import type { Server } from '@grpc/grpc-js';
import type { AuditTrail } from '@wins/audit-log';
import type { ProcessManager } from '@wins/process-manager';
import {
  configServiceDefinition,
  csiProxyServiceDefinition,
  eventsServiceDefinition,
  metricsServiceDefinition,
  planServiceDefinition,
} from '@wins/wins-api/contract';
import type { AgentSwitch } from '../features/agent/feature.js';
import type { CsiProxySwitch } from '../features/csi-proxy/feature.js';
import type { Logger } from '../log/logger.js';
import type { MetricsSwitch } from '../features/metrics/feature.js';
import type { EventJournal } from '../features/events/event-journal.js';
import { createConfigService, type ConfigInForce } from '../features/config/config-service.js';
import { createCsiProxyService } from '../features/csi-proxy/csi-proxy-service.js';
import { createEventsService } from '../features/events/events-service.js';
import { createMetricsService } from '../features/metrics/metrics-service.js';
import { createPlanService } from '../features/agent/plan-service.js';
import type { Callers } from '../rpc/administrators-only.js';

/** What the services for administrators ask. */
export interface AdminServicesParts {
  readonly config: ConfigInForce;
  readonly manager: Pick<ProcessManager, 'judge'>;
  readonly agent: Pick<AgentSwitch, 'agent' | 'reason' | 'isStrict'>;
  readonly csiProxy: Pick<CsiProxySwitch, 'kept' | 'reason'>;
  readonly metrics: Pick<MetricsSwitch, 'running' | 'reason'>;
  /** Undefined for a daemon that keeps no events. */
  readonly journal: EventJournal | undefined;
  readonly audit: Pick<AuditTrail, 'decided'>;
  readonly logger: Logger;
}

/** Adds the services for administrators of the host to a server: that of their own pipe, and that of the main one. */
export function addAdminServices(
  server: Server,
  callers: Callers,
  parts: AdminServicesParts,
): void {
  const { agent, csiProxy, metrics, journal, audit } = parts;
  server.addService(configServiceDefinition, createConfigService({ ...parts, callers }));
  server.addService(planServiceDefinition, createPlanService({ agent, callers, audit }));
  server.addService(csiProxyServiceDefinition, createCsiProxyService({ csiProxy, callers, audit }));
  server.addService(metricsServiceDefinition, createMetricsService({ metrics, callers }));
  if (journal !== undefined)
    server.addService(eventsServiceDefinition, createEventsService({ journal, callers }));
}
