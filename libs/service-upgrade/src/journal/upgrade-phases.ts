/** Steps of an upgrade; `STEP_TEXT` describes them. */
export type UpgradeStep =
  | 'stage'
  | 'checkConfig'
  | 'stop'
  | 'lend'
  | 'start'
  | 'reclaim'
  | 'prove'
  | 'replace'
  | 'register';

/**
 * Phase in the journal, written before its work begins.
 *
 * - `staging`: the new program is copied and judged; the service is unchanged.
 * - `trial`: the service names the new program until it has started, then the old one again. The new daemon is judged.
 * - `committing`: the new daemon has passed, and the target is being replaced. Once it is replaced, the upgrade cannot be undone.
 * - `installing`: there is no old program to return to.
 */
export type JournalPhase =
  | 'staging'
  | 'stopping'
  | 'trial'
  | 'committing'
  | 'installing'
  | 'undoing';

/** A step, and the phase in the journal while it is carried out. */
export interface PlannedStep {
  readonly step: UpgradeStep;
  readonly phase: JournalPhase;
}

interface PhaseRule {
  readonly steps: readonly UpgradeStep[];
  readonly next: readonly JournalPhase[];
}

/** Plan, journal, undoing and recovery all follow this table. */
export const PHASES: Readonly<Record<JournalPhase, PhaseRule>> = {
  staging: { steps: ['stage', 'checkConfig'], next: ['stopping', 'installing', 'undoing'] },
  stopping: { steps: ['stop'], next: ['trial', 'undoing'] },
  trial: { steps: ['lend', 'start', 'reclaim', 'prove'], next: ['committing', 'undoing'] },
  // This phase may be undone only while the target is still the old program.
  committing: { steps: ['replace', 'register'], next: ['undoing'] },
  installing: { steps: ['stop', 'replace', 'register', 'start', 'prove'], next: ['undoing'] },
  undoing: { steps: ['reclaim', 'stop', 'start'], next: [] },
};

/** `trial` applies when there is an old program to return to. */
const PATHS = {
  trial: ['staging', 'stopping', 'trial', 'committing'],
  install: ['staging', 'installing'],
} as const satisfies Readonly<Record<string, readonly JournalPhase[]>>;

export function stepsOf(path: keyof typeof PATHS): PlannedStep[] {
  return PATHS[path].flatMap((phase) => PHASES[phase].steps.map((step) => ({ step, phase })));
}
