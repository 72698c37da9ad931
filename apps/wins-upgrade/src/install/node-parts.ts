import type { InstallPlaces, NodeHost } from '@wins/installation';
import {
  UpgradeError,
  type SignersOf,
  type SystemParts,
  type UpgradeContext,
  type UpgradeLock,
} from '@wins/service-upgrade';
import { WinsClientError } from '@wins/wins-api';
import { healthServiceDefinition, HealthStatus } from '@wins/wins-api/contract';
import { messageOf } from '@wins/base';
import { setTimeout as delay } from 'node:timers/promises';
import { daemonClient, type DialPipe } from '../daemon-client.js';

/** A node that can be installed, and how its daemon is replaced. */
export interface NodeParts {
  readonly places: InstallPlaces;
  /** Without `signers`: what is put back is not judged. */
  readonly upgrade: UpgradeContext;
  /** By whom a program must be signed that is installed. */
  readonly signers: SignersOf;
  /** Connects to the pipe of the service alone. Absent: to whatever serves it, as the owner of the socket says. */
  readonly dialOf?: DialPipe;
  /** All that an installation needs but what {@link nodeHost} adds. */
  readonly system: Pick<NodeHost, 'platform' | 'rooms' | 'strangersIn' | 'isBeingRemoved'>;
  /** The right to change a node that may have no service yet: the lock of an upgrade lies beside a program. */
  readonly lockNode: () => Promise<UpgradeLock | undefined>;
}

/** A node, and what an upgrade of its program takes from the system. */
export type NodeOfSystem = Omit<NodeParts, 'upgrade' | 'signers'> & {
  readonly upgrade: SystemParts;
};

/** Proof that a started daemon serves, before an installation counts: undefined, or the finding instead. */
export type Proof = (pipe: string, limitMs: number) => Promise<string | undefined>;

const LOOK_EVERY_MS = 100;
const ONE_ANSWER_MS = 5_000;
/** A shorter time would be the reason in the place of the real one. */
const SHORTEST_MS = 500;

/** Asks the daemon of the service again and again, until all that is wanted of it is so. */
export async function proveService(
  { service, pipeOf, probe, waitMs }: UpgradeContext,
  more: readonly Proof[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const end = performance.now() + waitMs;
  for (;;) {
    let found = `no service ${service.name}`;
    signal?.throwIfAborted();
    const status = await service.query();
    if (status !== undefined) {
      const pipe = await pipeOf(status.command.args);
      // Whole milliseconds: a signal takes no others.
      const leftMs = Math.ceil(end - performance.now());
      const limitMs = Math.max(SHORTEST_MS, Math.min(ONE_ANSWER_MS, leftMs));
      const answer = await probe(pipe, limitMs);
      if (answer !== undefined) found = 'a daemon that is not healthy yet';
      // The last look may be too short for any answer, and says nothing then.
      else if (limitMs === ONE_ANSWER_MS) found = `no daemon on the pipe ${pipe}`;
      if (answer !== undefined && answer.serving !== false) {
        const lacks = await firstLack(more, pipe, limitMs);
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

async function firstLack(
  more: readonly Proof[],
  pipe: string,
  limitMs: number,
): Promise<string | undefined> {
  for (const prove of more) {
    const lacks = await prove(pipe, limitMs);
    if (lacks !== undefined) return lacks;
  }
  return undefined;
}

/** Proves that the daemon's agent has reached its server. Whether a plan is in order does not concern an installation. */
export function agentProof({ dialOf }: Pick<NodeParts, 'dialOf'>): Proof {
  return async (pipe, limitMs) => {
    await using client = daemonClient(pipe, limitMs, { clientName: 'wins-install', dialOf });
    try {
      // Every client may read the health of the daemon; on a desktop, only session 0 may read about plans.
      const asked = { service: 'wins.PlanService.Server' };
      const signal = AbortSignal.timeout(limitMs);
      const { status } = await client.call(healthServiceDefinition.check, asked, { signal });
      if (status === HealthStatus.SERVING) return undefined;
      return 'a daemon whose agent has not reached its server';
    } catch (error) {
      if (!(error instanceof WinsClientError)) throw error;
      return error.code === 'notFound'
        ? 'a daemon whose agent follows no server'
        : `a daemon that does not report its agent (${messageOf(error)})`;
    }
  };
}
