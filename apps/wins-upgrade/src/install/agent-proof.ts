import { resolvePipePath } from '@wins/pipe-transport';
import { createWinsClient, WinsClientError, type WinsClient } from '@wins/wins-api';
import { healthServiceDefinition, HealthStatus, planServiceDefinition } from '@wins/wins-api/raw';
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
  const away = 'a daemon whose agent has not reached its server';
  try {
    const { Sources: sources } = await client.call(planServiceDefinition.status, {}, { signal });
    const remote = sources.find(({ Source: source }) => source === 'remote');
    if (remote === undefined) return 'a daemon whose agent follows no server';
    return ['starting', 'disconnected'].includes(remote.State) ? away : undefined;
  } catch (error) {
    if (!(error instanceof WinsClientError) || error.code !== 'refused') throw error;
    // On a desktop only session 0 is told of plans. Every client is told how the daemon is.
    const asked = { service: 'wins.PlanService' };
    const { status } = await client.call(healthServiceDefinition.check, asked, { signal });
    return status === HealthStatus.SERVING ? undefined : away;
  }
}
