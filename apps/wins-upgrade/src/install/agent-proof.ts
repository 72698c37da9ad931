import { resolvePipePath } from '@wins/pipe-transport';
import { createWinsClient, WinsClientError, type WinsClient } from '@wins/wins-api';
import { healthServiceDefinition, HealthStatus } from '@wins/wins-api/contract';
import { messageOf } from '@wins/wins-program';
import type { NodeParts, Proof } from './node-parts.js';

/** That the agent of the daemon has reached its server: what is wrong with a plan is none of an installation's concern. */
export function agentProof({ dialOf }: Pick<NodeParts, 'dialOf'>): Proof {
  return async (pipe, limitMs) => {
    const dial = dialOf?.(pipe);
    const client = createWinsClient({
      address: resolvePipePath(pipe).address,
      connectTimeoutMs: limitMs,
      clientName: 'wins-install',
      ...(dial && { dial }),
    });
    try {
      const signal = AbortSignal.timeout(limitMs);
      return await agentState(client, signal);
    } catch (error) {
      if (error instanceof WinsClientError)
        return `a daemon that does not tell of its agent (${messageOf(error)})`;
      throw error;
    } finally {
      await client.close();
    }
  };
}

/** What is found in place of an agent that has reached its server; undefined for one that has. */
async function agentState(client: WinsClient, signal: AbortSignal): Promise<string | undefined> {
  try {
    // Every client is told how the daemon is; of plans, on a desktop, only session 0 is told.
    const asked = { service: 'wins.PlanService.Server' };
    const { status } = await client.call(healthServiceDefinition.check, asked, { signal });
    return status === HealthStatus.SERVING
      ? undefined
      : 'a daemon whose agent has not reached its server';
  } catch (error) {
    if (!(error instanceof WinsClientError) || error.code !== 'notFound') throw error;
    return 'a daemon whose agent follows no server';
  }
}
