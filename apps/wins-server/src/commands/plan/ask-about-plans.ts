import type { WinsClientError } from '@wins/wins-api';
import { planServiceDefinition, type PlanStatusResponse } from '@wins/wins-api/contract';
import { EXIT } from '@wins/wins-program';
import { DaemonCallError } from '../../daemon-call-error.js';
import { askRunningDaemon, type Question, type RunningDaemonOptions } from '../running-daemon.js';

type Ask<Answer> = Parameters<typeof askRunningDaemon<Answer>>[1];

/**
 * Asks the running daemon about the plans of the node.
 *
 * @throws DaemonCallError with an exit code: 65 for a plan that cannot be applied, 69 without a daemon or an agent, 77 for who is no
 * administrator.
 */
export function askAboutPlans<Answer>(
  options: RunningDaemonOptions,
  ask: Ask<Answer>,
  more: Pick<Question, 'asker' | 'timeoutMs' | 'nextStep'> = {},
): Promise<Answer> {
  return askRunningDaemon(options, ask, { asker: 'wins srv plan', answered, ...more });
}

/** Asks where each plan stands. */
export function askPlanStatus(
  options: RunningDaemonOptions,
  more: Pick<Question, 'asker' | 'timeoutMs' | 'nextStep'> = {},
): Promise<PlanStatusResponse> {
  const ask: Ask<PlanStatusResponse> = (client, signal) =>
    client.call(planServiceDefinition.status, {}, { signal });
  return askAboutPlans(options, ask, more);
}

function answered(error: WinsClientError): DaemonCallError | undefined {
  if (error.code !== 'failedPrecondition' && error.code !== 'invalidRequest') return undefined;
  const { unavailable, invalidPlan } = EXIT.server;
  const exitCode = error.reason === 'agentOff' ? unavailable : invalidPlan;
  return new DaemonCallError(error.details, exitCode, { cause: error });
}
