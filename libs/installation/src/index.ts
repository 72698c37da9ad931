/**
 * Installs wins on a node, and uninstalls it.
 *
 * Rancher's variables give the desired state, and a plan lists the steps to it. A journal lets a later run finish or undo the steps; a
 * manifest records them for the removal. The caller downloads the program and the connection info.
 *
 * @example
 * const context = { host, places };
 * await finishOrUndo(context);
 * const plan = planInstall(await readFacts(context, wish), wish, editConfig);
 * if (plan.kind === 'steps') await applyPlan(context, plan);
 * @module
 */
export type { FolderFacts, NodeFacts } from './facts/node-facts.js';
export { readFacts } from './facts/read-facts.js';
export { InstallError, type InstallErrorCode } from './install-error.js';
export { itemId, KINDS, type Item, type ItemKind, type StateOf } from './item/item.js';
export { describeStep, type Step } from './item/step.js';
export type { Manifest } from './manifest/manifest.js';
export { planAdopt, planInstall, planSuc } from './plan/plan-install.js';
export { planUninstall, type UninstallWish } from './plan/plan-uninstall.js';
export {
  describePlan,
  type AdoptPlan,
  type Content,
  type InstallPlan,
  type KeptItem,
  type NothingToDo,
  type Refusal,
  type StepPlan,
  type UninstallPlan,
} from './plan/plan.js';
export type { EditConfig } from './plan/wanted-items.js';
export type { NodeHost, NodeRooms, ProgramSwap, Room } from './ports.js';
export {
  adopt,
  applyPlan,
  type ApplyOutcome,
  finishOrUndo,
  pendingRecovery,
  type PendingRecovery,
  type Recovered,
} from './run/apply-plan.js';
export type { Around, InstallContext } from './run/install-context.js';
export { uninstall, type UninstallReport } from './run/uninstall.js';
export {
  wishFromEnvironment,
  type EnvironmentWish,
  type ProxyWish,
  type ServerWish,
  type InstallParameters,
} from './wish/environment-wish.js';
export { installPlaces, type InstallPlaces, type PlaceChoices } from './wish/install-places.js';
export {
  installWish,
  type ConfigChanges,
  type FetchedParts,
  type InstallWish,
  type StagedProgram,
  type WinHttpProxy,
  installWishOfSuc,
  sucWishFromEnvironment,
  type SucOptions,
  type SucWish,
} from './wish/install-wish.js';
export { Secret } from './wish/secret.js';
