// What is fuzzed: the public faces of the libraries, and of the applications what has none.
import {
  applicationServiceDefinition,
  healthServiceDefinition,
  hnsServiceDefinition,
  hostServiceDefinition,
  networkServiceDefinition,
  processServiceDefinition,
  routeServiceDefinition,
} from '@wins/wins-api/contract';

export { decodeStartRequest } from '../../apps/wins-server/src/features/runs/decode-start-request.js';
export { FeatureError } from '../../apps/wins-server/src/kernel/feature-error.js';
export { auditPlace } from '../../apps/wins-server/src/testing/private-folder.js';
export { AuditLog } from '../../apps/wins-server/src/kernel/audit/audit-log.js';
export { readAuditLog } from '../../apps/wins-server/src/kernel/audit/read-audit-log.js';
export { verifyAuditLog } from '../../apps/wins-server/src/kernel/audit/verify-audit-log.js';
export { ConfigError, parseConfig } from '@wins/config';
export { serveHttp2Connection } from '@wins/http2-connection';
export { START_LIMITS } from '@wins/process-manager';
export { serveTunnel, webSocketServerOptions } from '@wins/tcp-tunnel';
export { Effects, UpgradeJournal, upgradePlaces } from '@wins/service-upgrade';
export { createWinsClient } from '@wins/wins-api';
export { WebSocketServer } from 'ws';

/** Of each service the daemon serves or asks. */
export const definitions = [
  applicationServiceDefinition,
  healthServiceDefinition,
  hnsServiceDefinition,
  hostServiceDefinition,
  networkServiceDefinition,
  processServiceDefinition,
  routeServiceDefinition,
];
