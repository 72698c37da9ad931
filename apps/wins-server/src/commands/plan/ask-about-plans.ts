import type { WinsClientError } from '@wins/wins-api';
import { planServiceDefinition, type PlanStatusResponse } from '@wins/wins-api/raw';
import { EXIT } from '@wins/wins-program';
import { DaemonCallError } from '../../daemon-call-error.js';
import { askRunningDaemon, type RunningDaemonOptions } from '../running-daemon.js';

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
  takesItsTime = false,
): Promise<Answer> {
  return askRunningDaemon(options, ask, { asker: 'wins srv plan', takesItsTime, answered });
}

/** Asks where each plan stands. */
export function askPlanStatus(options: RunningDaemonOptions): Promise<PlanStatusResponse> {
  return askAboutPlans(options, (client, signal) =>
    client.call(planServiceDefinition.status, {}, { signal }),
  );
}

function answered(error: WinsClientError): DaemonCallError | undefined {
  if (error.code !== 'failedPrecondition' && error.code !== 'invalidRequest') return undefined;
  const { unavailable, invalidPlan } = EXIT.server;
  const exitCode = error.reason === 'agentOff' ? unavailable : invalidPlan;
  return new DaemonCallError(error.details, exitCode, { cause: error });
}
