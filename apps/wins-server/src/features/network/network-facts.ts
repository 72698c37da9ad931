import type { HostNetworkStatus, PlannedStep } from '@wins/host-network';
import { sourceFacts, type SourceFacts } from '../host-network/source-facts.js';
import type { NamedSource } from '../host-network/source-conditions.js';

export interface NetworkFacts extends Pick<HostNetworkStatus, 'orphans' | 'problems'> {
  readonly state: HostNetworkStatus['kind'];
  /** Whether it was torn down by hand. */
  readonly down: boolean;
  readonly routes: HostNetworkStatus['standings'];
  readonly sources: readonly SourceFacts[];
}

export interface NetworkSteps {
  readonly steps: readonly PlannedStep[];
  /** Whether the host has more routes than the daemon plans for. */
  readonly isLimited: boolean;
}

export function networkFacts(
  { kind: state, standings: routes, orphans, problems, isDown: down }: HostNetworkStatus,
  sources: readonly NamedSource[],
): NetworkFacts {
  return { state, down, routes, orphans, problems, sources: sources.map(sourceFacts) };
}
