// Exports the fuzzed code: public APIs of libraries, and internal functions of the applications.
import {
  applicationServiceDefinition,
  healthServiceDefinition,
  hnsServiceDefinition,
  hostServiceDefinition,
  networkServiceDefinition,
  processServiceDefinition,
  routeServiceDefinition,
} from '@wins/wins-api/contract';

export { FeatureError } from '../../apps/wins-server/src/kernel/feature-error.js';
export { auditOptions } from '../../apps/wins-server/src/testing/private-folder.js';
export { AuditLog } from '../../apps/wins-server/src/kernel/audit/audit-log.js';
export { readAuditLog } from '../../apps/wins-server/src/kernel/audit/verify-audit-log.js';
export { verifyAuditLog } from '../../apps/wins-server/src/kernel/audit/verify-audit-log.js';
export { ConfigError, parseConfig } from '@wins/config';
export { serveHttp2Connection } from '@wins/http2-connection';
export { Spool, SpoolWriter } from '@wins/process-manager';
export { serveTunnel, webSocketServerOptions } from '@wins/tcp-tunnel';
export {
  Effects,
  latestResult,
  SignedProgram,
  UpgradeJournal,
  upgradePaths,
} from '@wins/service-upgrade';
export { installPaths, InstallError, KINDS, describeStep } from '@wins/installation';
export { InstallFiles } from '../../libs/installation/src/journal/install-files.js';
export { begunSteps, endOf } from '../../libs/installation/src/journal/install-journal.js';
export { mergeSteps } from '../../libs/installation/src/manifest/manifest.js';
export { joinedEnvironment } from '../../apps/wins-upgrade/src/install/joined-before.js';
export {
  AgentError,
  imageStore,
  parsePlan,
  parseReference,
  posixPlanFiles,
} from '@wins/system-agent';
export {
  savedOutputs,
  savedPeriodic,
  secretState,
} from '../../libs/system-agent/src/decide/secret-state.js';
export {
  findManifest,
  parseConfig as parseImageConfig,
} from '../../libs/system-agent/src/images/image-documents.js';
export { CredentialProviders } from '../../libs/system-agent/src/images/provider/credential-providers.js';
export { readProviders } from '../../libs/system-agent/src/images/provider/provider-config.js';
export {
  loginOfDocker,
  loginOfRegistries,
  readDockerConfig,
} from '../../libs/system-agent/src/images/registry/credentials.js';
export { endpointsOf } from '../../libs/system-agent/src/images/registry/endpoints.js';
export { readRegistries } from '../../libs/system-agent/src/images/registry/registries-file.js';
export { parseConnectionInfo } from '../../libs/system-agent/src/kubernetes/connecting-store.js';
export { readSecret } from '../../libs/system-agent/src/kubernetes/secret-object.js';
export { KeptChanges } from '../../libs/system-agent/src/sources/kept-changes.js';
export { parsePosition, positionText } from '../../libs/system-agent/src/sources/position-file.js';
export { posixFileTrust } from '@wins/trusted-files';
export { createWinsClient } from '@wins/wins-api';
export { WebSocketServer } from 'ws';

export const definitions = [
  applicationServiceDefinition,
  healthServiceDefinition,
  hnsServiceDefinition,
  hostServiceDefinition,
  networkServiceDefinition,
  processServiceDefinition,
  routeServiceDefinition,
];
