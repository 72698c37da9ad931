/**
 * The contract between the daemon and its clients: messages, service definitions, default pipe names, and a typed client.
 *
 * Owns the words on the wire. Does not open listeners, knows no policy, runs no process: a server takes the definitions
 * from here.
 *
 * @example
 * ```ts
 * const client = createWinsClient({ address: '/run/rancher-wins/rancher_wins' });
 * const name = await client.startProcess({ Path: '/usr/bin/uname', Checksum: sha1 });
 * const lease = client.keepAlive(name);
 * for await (const { Options: message } of client.waitProcess(name)) {
 *   if (message?.$case === 'StdOut') process.stdout.write(message.value);
 * }
 * await lease.end();
 * await client.close();
 * ```
 *
 * @module
 */
export { DEFAULT_PIPE_NAME, DEFAULT_PROXY_PIPE_NAME } from '@wins/wins-program';

export { CLIENT_NAME_METADATA_KEY, createWinsClient } from './create-wins-client.js';
export type {
  CallOptions,
  StopOptions,
  WinsClient,
  WinsClientOptions,
} from './create-wins-client.js';
export type { ConfigClient, ConfigSubject } from './config-client.js';
export type { HostClient, NameOrAddress } from './host-client.js';
export type { CallEvent } from './call-event.js';
export type { KeepAliveHandle } from './keep-alive-handle.js';
export type { ConnectDaemon } from './dialled-transport.js';
export { routeGrpcLog } from './route-grpc-log.js';
export { ERROR_METADATA_KEY, WinsClientError } from './client-error.js';
export type { WinsClientErrorCode, WinsClientErrorDetails } from './client-error.js';

export { processServiceDefinition } from './process-service-definition.js';

export { healthServiceDefinition } from './health-service-definition.js';
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
  ConfigReloadResponse,
  ConfigServiceService as configServiceDefinition,
} from './gen/config.js';
export type { ConfigServiceServer } from './gen/config.js';
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
