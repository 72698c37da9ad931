import type { PortRelays } from '@wins/tcp-tunnel';
import type { SourceFacts } from '../host-network/source-facts.js';

export interface PortsFacts {
  readonly ports: PortRelays['standings'];
  /** Sources of published ports, except the config. */
  readonly sources: readonly SourceFacts[];
}
