import type { AgentStatus, PlanStatus } from '@wins/system-agent';
import { problem, summary, warning, type Reported } from '../../kernel/conditions/condition.js';
import { problemOf } from './plan-facts.js';

const NAME = 'plan';
/** A healthy server sends a bookmark each minute, and ends a watch after ten minutes. */
const SILENCE_MS = 15 * 60_000;
/** Time until a new agent has read its Secret, and until the probes of a new plan, unhealthy at first, have succeeded. */
const START_MS = 60_000;
/** States in which the daemon cannot read its Secret or write results. */
const DISCONNECTED = new Set(['starting', 'disconnected', 'unregistered', 'noSecret', 'unwritten']);

export function planConditions({
  plans,
  lastContactAt,
  silentMs = 0,
}: AgentStatus): readonly Reported[] {
  const conditions = plans.flatMap((plan) => [judgeSource(plan), ...judgeProbes(plan)]);
  if (lastContactAt === undefined) return conditions;
  const contact = `last contact with the API server ${Math.round(silentMs / 1000)} s ago`;
  const advice = 'check the network path to the API server, and see the log of the daemon';
  const isSilent = silentMs > SILENCE_MS;
  return [
    ...conditions,
    isSilent ? warning(NAME, 'planServerSilent', contact, advice) : summary(NAME, contact),
  ];
}

function judgeSource({ source, state }: PlanStatus): Reported {
  const isDisconnected = source === 'remote' && DISCONNECTED.has(state.kind);
  const cause = problemOf(state);
  if (cause === '' && !isDisconnected) return summary(NAME, `${source}: ${state.kind}`);
  const found = cause || 'the daemon has not read its Secret yet';
  const more = { subject: source, ...(cause === '' && { visibleAfterMs: START_MS }) };
  const code = isDisconnected ? 'planServerUnreachable' : 'planNotApplied';
  const advice = 'see wins srv plan status, and the log';
  return problem(NAME, code, `${source}: ${state.kind}: ${found}`, advice, more);
}

function judgeProbes({ source, probes }: PlanStatus): readonly Reported[] {
  return Object.entries(probes)
    .filter(([, { healthy }]) => !healthy)
    .map(([name, { failureCount }]) => {
      const found = `${source}: probe ${name} is unhealthy, after ${failureCount} failures in succession`;
      const advice = 'see what it asks (wins srv plan show), and the log of that program';
      const more = { subject: `${source} ${name}`, visibleAfterMs: START_MS };
      return warning(NAME, 'planProbeUnhealthy', found, advice, more);
    });
}
