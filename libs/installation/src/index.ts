/**
 * Installs wins on a node, and uninstalls it.
 *
 * Rancher's variables give the desired state, and a plan lists the steps to it. A journal lets a later run finish or undo the steps; a
 * manifest records them for the removal. The caller downloads the program and the connection info.
 *
 * @example
 * const context = { host, paths };
 * await finishOrUndo(context);
 * const plan = planInstall(await readFacts(context, desired), desired, editConfig);
 * if (plan.kind === 'steps') await applyPlan(context, plan);
 * @module
 */
export type { FolderFacts, ItemFacts, NodeFacts } from './facts/node-facts.js';
export type { ConfigChanges } from './desired/config-changes.js';
export { readFacts } from './facts/read-facts.js';
export { InstallError, type InstallErrorCode } from './install-error.js';
export { itemId, KINDS, type Item, type ItemKind, type StateOf } from './item/item.js';
export { describeStep, type Content, type Step } from './item/step.js';
export type { Manifest } from './manifest/manifest.js';
export { planAdopt, planInstall, planSuc } from './plan/plan-install.js';
export { planUninstall, type UninstallSettings } from './plan/plan-uninstall.js';
export {
  describePlan,
  type AdoptPlan,
  type InstallPlan,
  type KeptItem,
  type NothingToDo,
  type Refusal,
  type StepPlan,
  type UninstallPlan,
} from './plan/plan.js';
export type { EditConfig } from './plan/wanted-items.js';
export type { ItemHost, NodeHost, ItemStores, ProgramSwap, ItemStore } from './ports.js';
export {
  adopt,
  applyPlan,
  type ApplyOutcome,
  finishOrUndo,
  pendingRecovery,
  type PendingRecovery,
  type Recovered,
} from './run/apply-plan.js';
export type { Around, InstallContext } from './install-context.js';
export { uninstall, type UninstallReport } from './run/uninstall.js';
export {
  settingsFromEnvironment,
  type EnvironmentSettings,
  type ProxySettings,
  type ServerSettings,
  type InstallParameters,
} from './desired/environment-settings.js';
export { installPaths, type InstallPaths, type PathChoices } from './desired/install-paths.js';
export {
  desiredInstallation,
  type FetchedParts,
  type DesiredInstallation,
  type StagedProgram,
  type WinHttpProxy,
  desiredInstallationOfSuc,
  leftInstallation,
  sucSettingsFromEnvironment,
  type SucOptions,
  type SucSettings,
} from './desired/desired-installation.js';
export {
  KeptService,
  type KeptServiceOptions,
  type ServiceChange,
} from './kept-service/kept-service.js';
export type { DesiredService, PlannedAction, ServiceRelease } from './kept-service/plan-service.js';
export type { KeptServiceKind, ServiceNode } from './kept-service/service-node.js';
export {
  hasKeptService,
  SERVICE_STATES,
  type ServiceStatus,
} from './kept-service/service-status.js';
export { Secret } from './desired/secret.js';
