import type { SourceStatus } from '@wins/host-network';
import type { NamedSource } from './source-conditions.js';

/** Other hosts, or published ports, as a source reports them. */
export interface SourceFacts extends Omit<SourceStatus<object>, 'items'> {
  readonly source: string;
  /** Number of hosts or ports. */
  readonly count: number;
}

export function sourceFacts({ items, ...source }: NamedSource): SourceFacts {
  return { ...source, count: items.length };
}
