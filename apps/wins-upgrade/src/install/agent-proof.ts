import { resolvePipePath } from '@wins/pipe-transport';
import { createWinsClient, WinsClientError } from '@wins/wins-api';
import { planServiceDefinition } from '@wins/wins-api/raw';
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
      const { Sources: sources } = await client.call(planServiceDefinition.status, {}, { signal });
      const remote = sources.find(({ Source: source }) => source === 'remote');
      if (remote === undefined) return 'a daemon whose agent follows no server';
      if (!['starting', 'disconnected'].includes(remote.State)) return undefined;
      return 'a daemon whose agent has not reached its server';
    } catch (error) {
      if (error instanceof WinsClientError)
        return `a daemon that does not tell of its agent (${messageOf(error)})`;
      throw error;
    } finally {
      await client.close();
    }
  };
}
