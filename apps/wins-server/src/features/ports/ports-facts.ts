import type { SourceFacts } from '../network/network-facts.js';
import type { PortRelays } from './port-relays.js';

export interface PortsFacts {
  readonly ports: PortRelays['standings'];
  /** Sources of published ports, except the config. */
  readonly sources: readonly SourceFacts[];
}
