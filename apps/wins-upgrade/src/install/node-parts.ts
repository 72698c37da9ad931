import { UpgradeError, type UpgradeContext } from '@wins/service-upgrade';
import { WinsClientError } from '@wins/wins-api';
import { healthServiceDefinition, HealthStatus } from '@wins/wins-api/contract';
import { messageOf } from '@wins/base';
import type { Abortable } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { daemonClient } from '../daemon-client.js';
import type { NodeParts } from '../node-of-system.js';

/** Checks a started daemon; resolves with what it lacks, if anything. */
export type Proof = (
  pipe: string,
  options: Abortable & { readonly timeoutMs: number },
) => Promise<string | undefined>;

const LOOK_EVERY_MS = 100;
const ONE_ANSWER_MS = 5_000;
/** If a proof had less time, it would report a time-out instead of the cause. */
const SHORTEST_MS = 500;

export async function proveService(
  {
    service,
    pipeOf,
    probe,
    waitMs,
  }: Pick<UpgradeContext, 'service' | 'pipeOf' | 'probe' | 'waitMs'>,
  more: readonly Proof[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const end = performance.now() + waitMs;
  const noService = `no service ${service.name}`;
  let found = noService;
  for (;;) {
    signal?.throwIfAborted();
    const status = await service.query();
    if (status === undefined) found = noService;
    else {
      const pipe = await pipeOf(status.command.args);
      // AbortSignal accepts only whole milliseconds.
      const leftMs = Math.ceil(end - performance.now());
      const timeoutMs = Math.max(SHORTEST_MS, Math.min(ONE_ANSWER_MS, leftMs));
      const answer = await probe(pipe, { signal, timeoutMs });
      if (answer !== undefined) found = 'a daemon that is not healthy yet';
      // The last attempt may be too short for any answer, so it does not replace what an earlier one found.
      else if (timeoutMs === ONE_ANSWER_MS || found === noService)
        found = `no daemon on the pipe ${pipe}`;
      if (answer !== undefined && answer.serving !== false) {
        let lacks: string | undefined;
        for (const prove of more) lacks ??= await prove(pipe, { signal, timeoutMs });
        if (lacks === undefined) return;
        found = lacks;
      }
    }
    if (performance.now() >= end) {
      const wanted = `wanted a healthy one within ${Math.round(waitMs / 1000)} s. Run "wins doctor"`;
      throw new UpgradeError('unhealthy', `the node does not work: found ${found}; ${wanted}`);
    }
    await delay(LOOK_EVERY_MS);
  }
}

/** The agent must have reached its server, whatever the state of its plans. */
export function agentProof({ dialOf }: Pick<NodeParts, 'dialOf'>): Proof {
  return async (pipe, { signal, timeoutMs }) => {
    await using client = daemonClient(pipe, timeoutMs, { clientName: 'wins-install', dialOf });
    try {
      // Asks for the health and not for the plans: on a desktop system, every client may read the health, but only session 0 may read plans.
      const asked = { service: 'wins.PlanService.Server' };
      const late = AbortSignal.timeout(timeoutMs);
      const until = signal === undefined ? late : AbortSignal.any([signal, late]);
      const { status } = await client.call(healthServiceDefinition.check, asked, { signal: until });
      if (status === HealthStatus.SERVING) return undefined;
      return 'a daemon whose agent has not reached its server';
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof WinsClientError)) throw error;
      return error.code === 'notFound'
        ? 'a daemon whose agent follows no server'
        : `a daemon that does not report its agent (${messageOf(error)})`;
    }
  };
}
