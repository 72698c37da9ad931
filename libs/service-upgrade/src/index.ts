/**
 * Upgrades the program of a service: plans the steps, carries them out, and keeps a journal for recovery after a crash.
 *
 * The library reaches the service manager, the rest of the system, and the daemon only through the ports of {@link UpgradeContext}.
 * @packageDocumentation
 */
export {
  UpgradeJournal,
  type UpgradeRecord,
  type ConfigBefore,
  type ProgramIdentity,
} from './journal/upgrade-journal.js';
export { UpgradeLog } from './journal/upgrade-log.js';
export {
  findPaths,
  helpersIn,
  isOnTrial,
  targetOf,
  throughLinks,
  upgradeFolder,
  upgradePaths,
  type UpgradePaths,
} from './journal/upgrade-paths.js';
export {
  latestResult,
  readResult,
  writeResult,
  type UpgradeOutcome,
  type UpgradeResult,
} from './journal/upgrade-result.js';
export {
  describePlan,
  STEP_TEXT,
  planUpgrade,
  type UpgradeFacts,
  type UpgradeRequest,
  type RunsOfDaemon,
  type UpgradePlan,
} from './plan/plan-upgrade.js';
export { configFileOf, mergeServiceArgs, runsDaemon, withoutQuotes } from './plan/service-args.js';
export {
  isSameCommand,
  parseServiceCommand,
  type ServiceCommand,
} from './service/service-command.js';
export type { JournalPhase, PlannedStep, UpgradeStep } from './journal/upgrade-phases.js';
export { Effects, readText, type Around, type HoldersOf } from './effects.js';
export { removeLeftovers } from './run/finish-upgrade.js';
export { handOver, makeHelper, planOnly, type Helper } from './run/hand-over.js';
export type { DaemonAnswer, ProbeDaemon } from './run/health-gate.js';
export {
  offerUpgrade,
  WATCHED_PREFIX,
  type OfferedProgram,
  type OfferOutcome,
  type RecoverOptions,
  type Upgrader,
} from './run/offer-upgrade.js';
export { performUpgrade } from './run/perform-upgrade.js';
export {
  enterPrivateFolder,
  ensurePrivateFolder,
  namedUpgrader,
  requireTrustedFolder,
  withLock,
} from './run/private-folder.js';
export { recoverAtStart, settleUpgrade, type RecoveredUpgrade } from './run/recover-upgrade.js';
export { askVersion, runProgram, type ProgramAnswer } from './run/run-program.js';
export type {
  ServiceControl,
  ServiceState,
  ServiceStatus,
  UpgradeHost,
} from './service/service-control.js';
export { findProgress, type UpgradeProgress } from './run/upgrade-progress.js';
export type {
  RefuseDrops,
  SignersOf,
  SystemParts,
  UpgradeConfigs,
  UpgradeContext,
} from './run/upgrade-context.js';
export { SignedProgram } from './signature/signed-program.js';
export type { FileGuard } from './watch/examine-program.js';
export {
  recordUpgrades,
  type RecordUpgrade,
  type UpgradeDecision,
  type UpgradeRecords,
} from './watch/record-upgrades.js';
export { ProgramWatch, type WatchLog, type WatchOptions } from './watch/watch-program.js';
export { UpgradeError, type UpgradeErrorCode } from './upgrade-error.js';
