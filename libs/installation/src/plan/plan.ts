import type { Manifest } from '../manifest/manifest.js';
import { describeStep, type Content, type Step } from '../item/step.js';

/** Reason not to carry out a plan, as a clause for a message. */
export interface Refusal {
  readonly kind: 'refusal';
  readonly reason: string;
}

/** A plan of changes, for `applyPlan`. */
export interface StepPlan {
  readonly kind: 'steps';
  readonly steps: readonly Step[];
  /** By digest. Never print them, because they contain secrets. */
  readonly contents: ReadonlyMap<string, Content>;
  /** True if the installation counts as successful only once the daemon serves. */
  readonly isProved: boolean;
}

/** A plan for a node that is already as desired. */
export interface NothingToDo {
  readonly kind: 'nothing';
  readonly reason: string;
}

/** Result of `planInstall`: a reason against the installation, nothing to do, or the steps. */
export type InstallPlan = Refusal | NothingToDo | StepPlan;

/** Changes only the manifest. */
export type AdoptPlan =
  | Refusal
  | NothingToDo
  | { readonly kind: 'adopt'; readonly manifest: Manifest };

/** Result of `planUninstall`. `kept` lists the items that stay, with reasons. */
export type UninstallPlan =
  | Refusal
  | NothingToDo
  | {
      readonly kind: 'uninstall';
      readonly steps: readonly Step[];
      readonly kept: readonly KeptItem[];
    };

/** An item that an uninstallation leaves on the node, and why. */
export interface KeptItem {
  readonly entry: Step;
  readonly reason: string;
}

export const refuse = (reason: string): Refusal => ({ kind: 'refusal', reason });

/** Returns numbered lines, without secrets. */
export function describePlan(
  plan: Extract<InstallPlan | AdoptPlan, { kind: 'adopt' | 'steps' }>,
): readonly string[] {
  const lines =
    plan.kind === 'adopt'
      ? plan.manifest.entries.map((entry) => `adopt ${describeStep(entry).slice(5)}`)
      : plan.steps.map(describeStep);
  if (plan.kind === 'steps' && plan.isProved) lines.push('wait until the daemon serves');
  return lines.map((line, index) => `${index + 1}. ${line}`);
}
