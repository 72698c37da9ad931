import type { Manifest } from '../manifest/manifest.js';
import { describeStep, type Step } from '../item/step.js';

/** A refusal; nothing was changed. */
export interface Refusal {
  readonly kind: 'refusal';
  /** The finding and the expectation, in one sentence. */
  readonly reason: string;
}

/** The content for a digest in a step: bytes, or a file in a private folder. */
export type Content = Uint8Array | { readonly file: string };

/** Steps in execution order. */
export interface StepPlan {
  readonly kind: 'steps';
  readonly steps: readonly Step[];
  /** Contents by digest, as far as the node lacks them. Never printed, because they contain secrets. */
  readonly contents: ReadonlyMap<string, Content>;
  /** Whether a daemon must prove at the end that it serves. */
  readonly isProved: boolean;
}

/** No step is necessary. */
export interface NothingToDo {
  readonly kind: 'nothing';
  readonly reason: string;
}

/** The steps of an installation, or the reason for none. */
export type InstallPlan = Refusal | NothingToDo | StepPlan;

/** The plan to adopt an installation: only the manifest changes. */
export type AdoptPlan =
  Refusal | NothingToDo | { readonly kind: 'adopt'; readonly manifest: Manifest };

/** The plan to remove an installation. */
export type UninstallPlan =
  | Refusal
  | NothingToDo
  | {
      readonly kind: 'uninstall';
      readonly steps: readonly Step[];
      /** Installed items that stay, each with the reason for people. */
      readonly kept: readonly KeptItem[];
    };

/** An item that stays. */
export interface KeptItem {
  readonly entry: Step;
  readonly reason: string;
}

/** A refusal. */
export function refuse(reason: string): Refusal {
  return { kind: 'refusal', reason };
}

/** Describes a plan for people in numbered lines, without secrets. */
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
