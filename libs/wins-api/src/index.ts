/**
 * Client of the daemon: runs a program of the host and follows it to its end, lists, reads and controls runs, queries the host.
 *
 * `@wins/wins-api/contract` exports the wire contract, with the service definitions for servers.
 *
 * @example
 * ```ts
 * await using client = createWinsClient();
 * const run = await client.run({ path: '/usr/bin/uname' });
 * run.stderr.resume();
 * for await (const chunk of run.stdout) console.log(String(chunk));
 * const { exitCode } = await run.exit;
 * ```
 *
 * @module
 */
export type { HostRun, RunOptions, RunPort } from './host-run.js';
export { createWinsClient } from './create-wins-client.js';
export type { CallOptions, StopOptions } from './call-options.js';
export type {
  MeasuredRun,
  RunListOptions,
  RunName,
  RunOutputPart,
  RunReadOptions,
  RunRestart,
  RunsClient,
  RunStartOptions,
  RunStats,
  RunWaitOptions,
} from './runs/runs-client.js';
export type {
  EnforcedLimits,
  KeptOutput,
  KeptRequest,
  OpenPort,
  Run,
  RunDetails,
  RunEnd,
  RunFigures,
  RunUsage,
} from './gen/runs.js';
export type { HeldOutput, HeldProcess, HoldOptions } from './held-process.js';
export type {
  ApplicationInfo,
  StartOptions,
  StartRequest,
  WinsClient,
  WinsClientOptions,
} from './wins-client.js';
export type { ConfigClient, ConfigReloadOptions, ConfigSubject } from './config-client.js';
export type {
  ConfigDescription,
  ConfigEntry,
  ConfigProblem,
  ConfigReload,
  ConfigVerdict,
} from './gen/config.js';
export type { HostClient } from './host-client.js';
export type { KeepAliveHandle } from './keep-alive-handle.js';
export type { CallEvent } from './call-event.js';
export { routeGrpcLog } from './grpc-js/route-grpc-log.js';
export {
  WinsClientError,
  type WinsClientErrorCode,
  type WinsClientErrorDetails,
} from './client-error.js';

export {
  RunExposeProtocol,
  type ProcessExpose,
  type ProcessName,
  type ProcessSkipped,
  type ProcessStartRequest,
  type ProcessWaitResponse,
  type RunExit,
  type RunFile,
  type RunKeeping,
  type RunLimits as RunLimitsMessage,
} from './gen/process.js';
export type { MessageFns } from './wire/message-fns.js';
export type {
  ConnectDaemon,
  HnsNetwork,
  HnsSubnet,
  HostVersion,
  NetworkAdapter,
  NetworkSelector,
  RouteEntry,
  TreeLimits,
} from '@wins/base';
