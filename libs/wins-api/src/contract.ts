/**
 * The contract itself, for servers and tests: generated messages and service definitions, and what a server adds. Names and
 * shapes follow `proto/`.
 *
 * @module
 */
export { CLIENT_NAME_METADATA_KEY } from './client-options.js';
export { ERROR_METADATA_KEY } from './client-error.js';

export { processServiceDefinition } from './definitions/process-service-definition.js';

export { healthServiceDefinition } from './definitions/health-service-definition.js';
export {
  HealthCheckResponse,
  HealthCheckResponse_ServingStatus as HealthStatus,
  HealthListResponse,
} from './gen/health.js';
export type { HealthServer } from './gen/health.js';
export type { Void } from './gen/common.js';

export {
  ApplicationInfo,
  ApplicationInfoResponse,
  ApplicationServiceService as applicationServiceDefinition,
} from './gen/application.js';
export type { ApplicationServiceServer } from './gen/application.js';
export {
  ProcessExit,
  ProcessExpose,
  ProcessKeepAliveRequest,
  ProcessName,
  ProcessStartRequest,
  ProcessStartResponse,
  ProcessSummary,
  ProcessWaitRequest,
  ProcessWaitResponse,
  RunExposeProtocol,
} from './gen/process.js';
export type { ProcessServiceServer } from './gen/process.js';
export {
  ConfigDescribeResponse,
  ConfigEntry,
  ConfigExplainRequest,
  ConfigExplainResponse,
  ConfigProblem,
  ConfigReloadRequest,
  ConfigReloadResponse,
  ConfigServiceService as configServiceDefinition,
} from './gen/config.js';
export type { ConfigServiceServer } from './gen/config.js';
export {
  CsiProxyApplyRequest,
  CsiProxyApplyResponse,
  CsiProxyServiceService as csiProxyServiceDefinition,
  CsiProxyStatusResponse,
  CsiProxyStep,
} from './gen/csi-proxy.js';
export type { CsiProxyServiceServer } from './gen/csi-proxy.js';
export {
  EventRecord,
  EventsReadRequest,
  EventsReadResponse,
  EventsServiceService as eventsServiceDefinition,
} from './gen/events.js';
export type { EventsServiceServer } from './gen/events.js';
export {
  MetricsScrapeResponse,
  MetricsServiceService as metricsServiceDefinition,
} from './gen/metrics.js';
export type { MetricsServiceServer } from './gen/metrics.js';
export {
  DebugClient,
  DebugConnection,
  DebugHandle,
  DebugHandlesResponse,
  DebugLogLevelRequest,
  DebugLogLevelResponse,
  DebugPiece,
  DebugRun,
  DebugSecondsRequest,
  DebugServiceService as debugServiceDefinition,
  DebugSession,
} from './gen/debug.js';
export type { DebugServiceServer } from './gen/debug.js';
export {
  PlanApplied,
  PlanApplyRequest,
  PlanApplyResponse,
  PlanContent,
  PlanFileEntry,
  PlanHistoryResponse,
  PlanInstructionEntry,
  PlanFailure,
  PlanOutput,
  PlanPeriodicState,
  PlanProbeEntry,
  PlanProbeState,
  PlanServiceService as planServiceDefinition,
  PlanShowResponse,
  PlanSource,
  PlanStatusResponse,
} from './gen/plan.js';
export type { PlanServiceServer } from './gen/plan.js';
export {
  RunFigures,
  RunStatsRequest,
  RunStatsResponse,
  RunStatsService as runStatsDefinition,
  RunUsage,
} from './gen/run-stats.js';
export type { RunStatsServer } from './gen/run-stats.js';
export {
  HnsGetNetworkRequest,
  HnsNetwork,
  HnsServiceService as hnsServiceDefinition,
} from './gen/hns.js';
export type { HnsServiceServer } from './gen/hns.js';
export {
  HostGetVersionResponse,
  HostServiceService as hostServiceDefinition,
  HostVersion,
} from './gen/host.js';
export type { HostServiceServer } from './gen/host.js';
export {
  NetworkAdapter,
  NetworkServiceService as networkServiceDefinition,
} from './gen/network.js';
export type { NetworkServiceServer } from './gen/network.js';
export {
  Route,
  RouteAddRequest,
  RouteServiceService as routeServiceDefinition,
} from './gen/route.js';
export type { RouteServiceServer } from './gen/route.js';
/** A `google.protobuf.FileDescriptorSet` of all proto files, in base64, for gRPC reflection. */
export { FILE_DESCRIPTOR_SET } from './gen/descriptors.js';
