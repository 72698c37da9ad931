/**
 * Runs allowed programs of the host and reports how they ended.
 *
 * Owns the path policy, verified copies, child environments, process trees, leases, output, and the clean-up after a
 * dead daemon. Other libraries own connections, the wire format, configuration files and logging. A
 * `ProcessHost` starts and ends the processes.
 *
 * @example
 * const manager = createProcessManager({
 *   allowed: [{ path: '/opt/tools/hello' }],
 *   stateDirectory: '/var/lib/rancher-wins/runs',
 *   host: posixProcessHost, // of @wins/linux-host
 * });
 * await manager.recover();
 * const run = await manager.start({
 *   path: '/opt/tools/hello',
 *   sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
 *   args: [],
 *   envs: [],
 *   owner: { id: 'pipe:1', disconnected: new AbortController().signal },
 * });
 * const lease = run.holdLease('pipe:1');
 * for await (const part of run.read('pipe:1')) {
 *   if (part.stream === 'stdout') process.stdout.write(part.bytes);
 * }
 * const { code } = await lease.release();
 * await manager.close();
 */
export type { Noted } from './keeper/note.js';
export {
  CommandRunner,
  type CommandRunnerOptions,
  type HostOwnCommand,
} from './commands/command-runner.js';
export type { DecisionFacts, DecisionRecord } from './supervision/decision-record.js';
export type { ArgumentForm, ArgumentPattern, ArgumentRules } from './policy/argument-rules.js';
export type { PathRule, ParsedPath, PathDialect } from './policy/parsed-path.js';
export { type AllowedVariables, checkProcessEnvironment } from './policy/child-environment.js';
export {
  checkAllowedExecutables,
  doubtAllowedExecutables,
  judgeExecutablePath,
  type AllowedExecutable,
  type AllowedExecutableProblem,
  type DetachedGrant,
  type RestartBackoff,
  type EntryName,
  type Verdict,
} from './policy/executable-policy.js';
export type { FilesGrant, RunFile } from './policy/run-files.js';
export type { LimitedEntry } from './policy/run-limits.js';
export type { StoppedEntry } from './policy/stop-request.js';
export {
  judgeStart,
  type StartQuestion,
  type StartQuestionContext,
  type StartVerdict,
  type AdmissionContext,
} from './judge-start.js';
export { type Keeping, type RunFacts, type StartRequest } from './start-request.js';
export { markOf } from './supervision/run-mark.js';
export { findOrphans, type OrphanSearch } from './supervision/end-leftovers.js';
export {
  EXIT_REASONS,
  type ExitReason,
  type ProcessExit,
  type ProcessState,
  type Lease,
  type Lifetime,
  type ManagedProcess,
  type ProcessOwner,
  type RunSelection,
  type StopSelection,
  type OwningClient,
  type PortsOutcome,
  type RunLimits,
  type RunFigures,
  type EventRun,
  type ManagerEvent,
  type RecoveredProcess,
} from './supervision/managed-process.js';
export type { SignatureReader } from './staging/staged-binary.js';
export type { HostOf, ManagerLimits, ProcessManagerOptions, RunSlots } from './manager-options.js';
export type {
  OutputFigures,
  OutputPart,
  OutputReader,
  OutputReadOptions,
  OutputSource,
  OutputStart,
  OutputStream,
  TreeLog,
} from './output/output-log.js';
export { Spool, type SpoolOptions, type SpoolReader } from './output/spool.js';
export type { SearchTurn } from './output/spool-search.js';
export { SpoolWriter, type SpoolWriterOptions } from './output/spool-writer.js';
export {
  ProcessError,
  type ProcessErrorCode,
  type ProcessErrorDetails,
  type ProcessRefusalCode,
  type ProcessRule,
  START_RULES,
} from './process-error.js';
export { MAX_EXECUTABLE_BYTES } from './staging/staged-binary.js';
export { createProcessManager, type ProcessManager } from './process-manager.js';
export type { RunName } from './supervision/run-registry.js';
export { superviseProgram, type SuperviseOptions } from './supervise-program.js';
export type { Measurement, MeasuredRun } from './usage/shared-measurement.js';
export {
  DetachedRuns,
  type DetachedRunsOptions,
  type LeasedStart,
  type Requester,
  type RunDetails,
  type StartDetachedOptions,
} from './detached/detached-runs.js';
export {
  isBegun,
  isKept,
  KEEP_PREFIX,
  lastEndOf,
  RUN_STATES,
  stateOf,
  type DetachedEvent,
  type DiskClaim,
  type DetachedRun,
  type KeptName,
} from './detached/detached-run.js';
export type { SpoolClaim, SpoolShares } from './detached/run-places.js';
export { openDetachedRuns } from './detached/open-detached-runs.js';
export type { WantedProgram } from './detached/keep-programs.js';
export { newPlan, type PlannedRequest, type RestartPlan } from './detached/restart-plan.js';
export { RunFolders, type IgnoredRecord, type RecordsFound } from './supervision/run-folders.js';
export {
  type RunRecord,
  type RunEnd,
  type DetachedRecord,
  type RunOwner,
  type KeeperRecord,
} from './supervision/run-record.js';
export { Keeper, type KeeperOptions } from './keeper/keeper.js';
export type { KeepersOptions } from './keeper/keepers.js';
export type { KeeperTransport } from './keeper/keeper-transport.js';
export { endKeepers, type EndParts } from './keeper/end-keepers.js';
export { serveKeeper } from './keeper/serve-keeper.js';
export { startKeeper, type KeeperCommand, type StartKeeper } from './keeper/start-keeper.js';
export { SpoolLog, type SpoolLogOptions } from './output/spool-log.js';
export {
  LocalTree,
  type SupervisedTree,
  type SuperviseTreeOptions,
} from './supervision/supervised-tree.js';
export type { ClientIdentity } from '@wins/base';
