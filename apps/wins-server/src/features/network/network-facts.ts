import type { HostNetworkStatus, PlannedStep, SourceStatus } from '@wins/host-network';

export interface NetworkFacts extends Pick<HostNetworkStatus, 'orphans' | 'problems'> {
  readonly state: HostNetworkStatus['kind'];
  /** Whether it was torn down by hand. */
  readonly down: boolean;
  readonly routes: HostNetworkStatus['standings'];
  readonly sources: readonly SourceFacts[];
}

/** Other hosts, or published ports, as a source reports them. */
export interface SourceFacts extends Omit<SourceStatus<object>, 'items'> {
  readonly source: string;
  /** Number of hosts or ports. */
  readonly count: number;
}

export interface NetworkSteps {
  readonly steps: readonly PlannedStep[];
  /** Whether the host has more routes than the daemon plans for. */
  readonly isLimited: boolean;
}

export type NamedSource = SourceStatus<object> & { readonly source: string };

export function sourceFacts({ items, ...source }: NamedSource): SourceFacts {
  return { ...source, count: items.length };
}

export function networkFacts(
  { kind: state, standings: routes, orphans, problems, isDown: down }: HostNetworkStatus,
  sources: readonly NamedSource[],
): NetworkFacts {
  return { state, down, routes, orphans, problems, sources: sources.map(sourceFacts) };
}

/** Ages of sources, as samples of a metric. */
export function sourceAges<Name extends string>(
  sources: readonly (Pick<NamedSource, 'ageMs' | 'sinceMs'> & { readonly source: Name })[],
) {
  return sources.map(
    ({ source, ageMs, sinceMs }) => [{ source }, (ageMs ?? sinceMs) / 1000] as const,
  );
}
