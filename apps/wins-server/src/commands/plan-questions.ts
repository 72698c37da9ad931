import { WinsClientError } from '@wins/wins-api';
import { planServiceDefinition, type PlanStatusResponse } from '@wins/wins-api/raw';
import { EXIT } from '@wins/wins-program';
import { DaemonCallError } from '../daemon-call-error.js';
import { askRunningDaemon, type RunningDaemonOptions } from './running-daemon.js';

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
  const asked: Ask<Answer> = async (client, signal) => {
    try {
      return await ask(client, signal);
    } catch (error) {
      throw answered(error);
    }
  };
  return askRunningDaemon(options, asked, { asker: 'wins srv plan', takesItsTime });
}

/** Asks where each plan stands. */
export function askPlanStatus(options: RunningDaemonOptions): Promise<PlanStatusResponse> {
  return askAboutPlans(options, (client, signal) =>
    client.call(planServiceDefinition.status, {}, { signal }),
  );
}

/** What the daemon itself has to say needs no words about the pipe. */
function answered(error: unknown): unknown {
  if (!(error instanceof WinsClientError) || error.reason === undefined) return error;
  if (error.code !== 'failedPrecondition' && error.code !== 'invalidRequest') return error;
  const { unavailable, invalidPlan } = EXIT.server;
  const exitCode = error.reason === 'agentOff' ? unavailable : invalidPlan;
  return new DaemonCallError(error.details, exitCode, { cause: error });
}
