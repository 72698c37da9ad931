import { resolvePipePath } from '@wins/pipe-transport';
import { createWinsClient, WinsClientError } from '@wins/wins-api';
import { healthServiceDefinition, HealthStatus, planServiceDefinition } from '@wins/wins-api/raw';
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
      try {
        const { Sources: sources } = await client.call(
          planServiceDefinition.status,
          {},
          { signal },
        );
        const remote = sources.find(({ Source: source }) => source === 'remote');
        return remote !== undefined && !['starting', 'disconnected'].includes(remote.State);
      } catch (error) {
        if (!(error instanceof WinsClientError) || error.code !== 'refused') throw error;
        // On a desktop no one is asked about plans but who is in session 0. Everyone may ask how the daemon is.
        const service = 'wins.PlanService';
        const { status } = await client.call(
          healthServiceDefinition.check,
          { service },
          { signal },
        );
        return status === HealthStatus.SERVING;
      }
    } catch (error) {
      if (error instanceof WinsClientError) return false;
      throw error;
    } finally {
      await client.close();
    }
  };
}
