import type { Manifest } from '../manifest/manifest.js';
import { describeStep, type Content, type Step } from '../item/step.js';

export interface Refusal {
  readonly kind: 'refusal';
  readonly reason: string;
}

export interface StepPlan {
  readonly kind: 'steps';
  readonly steps: readonly Step[];
  /** By digest. Never print them, because they contain secrets. */
  readonly contents: ReadonlyMap<string, Content>;
  readonly isProved: boolean;
}

export interface NothingToDo {
  readonly kind: 'nothing';
  readonly reason: string;
}

export type InstallPlan = Refusal | NothingToDo | StepPlan;

/** Changes only the manifest. */
export type AdoptPlan =
  | Refusal
  | NothingToDo
  | { readonly kind: 'adopt'; readonly manifest: Manifest };

export type UninstallPlan =
  | Refusal
  | NothingToDo
  | {
      readonly kind: 'uninstall';
      readonly steps: readonly Step[];
      readonly kept: readonly KeptItem[];
    };

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
