/**
 * The wire contract for servers and tests. Names and shapes follow `proto/`.
 *
 * @module
 */
export { CLIENT_NAME_METADATA_KEY } from './client-options.js';
export { wholeStartRequest } from './whole-message.js';
export { ERROR_METADATA_KEY, UNKNOWN_PARTS } from './client-error.js';

export { processServiceDefinition, runsDefinition } from './definitions/output-streams.js';

export { healthServiceDefinition } from './definitions/health-service-definition.js';
export {
  HealthCheckResponse,
  HealthCheckResponse_ServingStatus as HealthStatus,
  HealthListResponse,
  type HealthServer,
} from './gen/health.js';
export type { Void } from './gen/common.js';

export {
  ApplicationInfo,
  ApplicationInfoResponse,
  ApplicationServiceService as applicationServiceDefinition,
  type ApplicationServiceServer,
} from './gen/application.js';
export {
  ProcessExpose,
  ProcessKeepAliveRequest,
  ProcessName,
  ProcessStartRequest,
  ProcessStartResponse,
  ProcessWaitRequest,
  ProcessWaitResponse,
  ProcessUpdateFileRequest,
  RunExposeProtocol,
  RunExit,
  type RunKeeping,
  type RunLimits,
  type ProcessServiceServer,
} from './gen/process.js';
export {
  ConfigDescription,
  ConfigEntry,
  ConfigExplainRequest,
  ConfigVerdict,
  ConfigProblem,
  ConfigReloadRequest,
  ConfigReload,
  ConfigServiceService as configServiceDefinition,
  type ConfigServiceServer,
} from './gen/config.js';
export {
  EventsReadRequest,
  EventsReadResponse,
  EventsServiceService as eventsServiceDefinition,
  type EventsServiceServer,
} from './gen/events.js';
export {
  Condition,
  FeatureChangeRequest,
  FeatureChangeResponse,
  FeatureFacts,
  FeaturesReadRequest,
  FeaturesReadResponse,
  FeatureServiceService as featureServiceDefinition,
  type FeatureServiceServer,
} from './gen/features.js';
export {
  MetricsScrapeResponse,
  MetricsServiceService as metricsServiceDefinition,
  type MetricsServiceServer,
} from './gen/metrics.js';
export {
  DebugPiece,
  DebugRecordRequest,
  DebugServiceService as debugServiceDefinition,
  type DebugServiceServer,
} from './gen/debug.js';
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
  PlanProbeEntry,
  PlanProbeState,
  PlanServiceService as planServiceDefinition,
  PlanShowResponse,
  type PlanServiceServer,
} from './gen/plan.js';
export {
  EnforcedLimits,
  Run,
  RunDetails,
  RunEnd,
  RunFigures,
  RunListResponse,
  RunNameRequest,
  RunOutput,
  RunReadRequest,
  RunReadResponse,
  RunStopRequest,
  type RunsServer,
} from './gen/runs.js';
export {
  HnsGetNetworkRequest,
  HnsNetwork,
  HnsServiceService as hnsServiceDefinition,
  type HnsServiceServer,
} from './gen/hns.js';
export {
  HostGetVersionResponse,
  HostServiceService as hostServiceDefinition,
  HostVersion,
  type HostServiceServer,
} from './gen/host.js';
export {
  NetworkAdapter,
  NetworkServiceService as networkServiceDefinition,
  type NetworkServiceServer,
} from './gen/network.js';
export {
  Route,
  RouteAddRequest,
  RouteServiceService as routeServiceDefinition,
  type RouteServiceServer,
} from './gen/route.js';
/** A `google.protobuf.FileDescriptorSet` of all proto files, in base64, for gRPC reflection. */
export { FILE_DESCRIPTOR_SET } from './gen/descriptors.js';
