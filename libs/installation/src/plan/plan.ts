import type { Manifest } from '../manifest/manifest.js';
import { describeStep, type Step } from '../item/step.js';

/** It must not be done: nothing was touched. */
export interface Refusal {
  readonly kind: 'refusal';
  /** What was found and what was wanted. */
  readonly reason: string;
}

/** The content that a digest of a step stands for: bytes, or a file in a private folder. */
export type Content = Uint8Array | { readonly file: string };

/** What is to be done, in this order. */
export interface StepPlan {
  readonly kind: 'steps';
  readonly steps: readonly Step[];
  /** What the digests of the steps stand for, as far as it is not on the node yet. Not for people: secrets are in it. */
  readonly contents: ReadonlyMap<string, Content>;
  /** Whether a daemon is to prove that it serves when all is done. */
  readonly isProved: boolean;
}

/** Nothing is to be done. */
export interface NothingToDo {
  readonly kind: 'nothing';
  readonly reason: string;
}

/** What an installation takes, or why there is none. */
export type InstallPlan = Refusal | NothingToDo | StepPlan;

/** What taking an installation over takes: nothing changes but the manifest. */
export type AdoptPlan =
  Refusal | NothingToDo | { readonly kind: 'adopt'; readonly manifest: Manifest };

/** What taking an installation away takes. */
export type UninstallPlan =
  | Refusal
  | NothingToDo
  | {
      readonly kind: 'uninstall';
      readonly steps: readonly Step[];
      /** What was installed and stays, with the reason, for people. */
      readonly kept: readonly KeptItem[];
    };

/** A thing that stays. */
export interface KeptItem {
  readonly entry: Step;
  readonly reason: string;
}

/** A refusal. */
export function refuse(reason: string): Refusal {
  return { kind: 'refusal', reason };
}

/** A plan for people, in numbered lines; no secret is in it. */
export function describePlan(
  plan: Extract<InstallPlan | AdoptPlan, { kind: 'adopt' | 'steps' }>,
): readonly string[] {
  const lines =
    plan.kind === 'adopt'
      ? plan.manifest.entries.map((entry) => `take over ${describeStep(entry).slice(5)}`)
      : plan.steps.map(describeStep);
  if (plan.kind === 'steps' && plan.isProved) lines.push('wait until the daemon serves');
  return lines.map((line, index) => `${index + 1}. ${line}`);
}
