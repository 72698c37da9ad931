import { WinsClientError, type WinsClient } from '@wins/wins-api';
import { healthServiceDefinition, HealthStatus } from '@wins/wins-api/contract';
import { messageOf } from '@wins/wins-program';
import { daemonClient } from '../daemon-client.js';
import type { NodeParts, Proof } from './node-parts.js';

/** That the agent of the daemon has reached its server: what is wrong with a plan is none of an installation's concern. */
export function agentProof({ dialOf }: Pick<NodeParts, 'dialOf'>): Proof {
  return async (pipe, limitMs) => {
    await using client = daemonClient(pipe, limitMs, { clientName: 'wins-install', dialOf });
    try {
      return await agentState(client, AbortSignal.timeout(limitMs));
    } catch (error) {
      if (!(error instanceof WinsClientError)) throw error;
      return error.code === 'notFound'
        ? 'a daemon whose agent follows no server'
        : `a daemon that does not tell of its agent (${messageOf(error)})`;
    }
  };
}

/** What is found in place of an agent that has reached its server; undefined for one that has. */
async function agentState(client: WinsClient, signal: AbortSignal): Promise<string | undefined> {
  // Every client is told how the daemon is; of plans, on a desktop, only session 0 is told.
  const asked = { service: 'wins.PlanService.Server' };
  const { status } = await client.call(healthServiceDefinition.check, asked, { signal });
  return status === HealthStatus.SERVING
    ? undefined
    : 'a daemon whose agent has not reached its server';
}
