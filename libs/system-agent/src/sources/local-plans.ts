import { posixFileTrust } from '@wins/trusted-files';
import { messageOf } from '@wins/base';
import type { Applier } from '../apply/pass.js';
import { Warnings } from '../apply/warnings.js';
import type { AgentOptions, PlanStatus } from '../system-agent.js';
import { findLocalPlans } from './find-local-plans.js';
import { LOCAL_PERIOD_MS, LocalPlan } from './local-plan.js';

/** Options of local plans; `files` writes the `.pos` files. */
export interface LocalPlansOptions extends Pick<
  AgentOptions,
  'clock' | 'files' | 'trust' | 'onEvent'
> {
  /** May be missing at times. */
  readonly directory: string;
  readonly applier: Applier;
  /** Called with all plans of the last check, by path, whenever one of them changes. */
  readonly onStatus: (plans: readonly PlanStatus[]) => void;
}

/**
 * Follows the plans of a folder: every 5 s, applies changed plans in the order of their paths, and stores each result
 * in a `.pos` file. Reports and retries failures. Resolves after the signal aborted.
 */
export async function followLocalPlans(
  { directory, trust = posixFileTrust(), onStatus, onEvent, ...steps }: LocalPlansOptions,
  signal: AbortSignal,
): Promise<void> {
  const warnings = new Warnings(onEvent);
  let plans: ReadonlyMap<string, LocalPlan> = new Map();
  const tellStatus = (): void => onStatus([...plans.values()].map(({ status }) => status));
  const make = (file: string): LocalPlan =>
    new LocalPlan(file, { ...steps, trust, warnings, onEvent, onStatus: tellStatus });

  const look = async (): Promise<void> => {
    const { plans: found, faults } = await findLocalPlans(directory);
    const [fault] = faults;
    const message = `part of the folder of local plans is skipped: found ${fault ?? ''}`;
    warnings.tell(directory, 'walk', fault && message);
    const before = plans;
    plans = new Map(found.map((file) => [file, before.get(file) ?? make(file)]));
    if (before.size > 0 || plans.size > 0) tellStatus();
    for (const plan of plans.values()) await plan.look(signal);
  };

  const lookAndWait = async (): Promise<void> => {
    try {
      await look();
      warnings.tell(directory, 'folder', undefined);
    } catch (error) {
      if (signal.aborted) return;
      const message = `cannot look for local plans: ${messageOf(error)}`;
      warnings.tell(directory, 'folder', message, error);
    }
    await steps.clock.wait(LOCAL_PERIOD_MS, signal).catch(() => undefined);
  };
  while (!signal.aborted) await lookAndWait();
}
