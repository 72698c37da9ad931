import { reporter } from '@wins/base';
import { LocalAddresses } from '../udp/local-addresses.js';
import { UdpTracker } from '../udp/udp-tracker.js';
import { judgePorts, type JudgedPort, type PortFacts, type WantedPort } from './judge-ports.js';
import {
  PortRelay,
  type PortRelayOptions,
  type SharedParts,
  type RelayState,
} from './port-relay.js';

/** Maximum number of addresses of the host at which one UDP port has a socket of its own. */
const MOST_ADDRESSES = 64;
const ANY = '0.0.0.0';

/** State of a desired port. `rejected`: it may not be relayed. `down`: an administrator has closed it. */
export interface PortStanding {
  readonly proto: 'tcp' | 'udp';
  readonly listen: string;
  readonly to: string;
  readonly state: RelayState | 'rejected' | 'down';
  /** Reason of the state, as one clause; may be empty. */
  readonly detail: string;
  /** Number of open connections or flows. */
  readonly open: number;
}

/** Options of {@link PortRelays}. */
export interface PortRelaysOptions extends PortRelayOptions {
  /** Maximum number of UDP flows. One source address gets at most half of them. */
  readonly maxFlows: number;
  /** Maximum number of sockets on which UDP ports listen. The ports that listen on all addresses share them equally. */
  readonly maxSockets: number;
}

/**
 * Relays TCP and UDP ports of this host to other addresses, without a tunnel. A port that may not be relayed is refused alone; one whose address is in
 * use is tried again.
 */
export class PortRelays implements AsyncDisposable {
  readonly #parts: SharedParts;
  /** Relays by protocol and listen address, so that each port has one owner. */
  readonly #relays = new Map<string, PortRelay>();
  readonly #closing = new Set<Promise<void>>();
  readonly refusals = { tcp: 0, udp: 0 };
  #judged: readonly JudgedPort[] = [];
  #isDown = false;

  constructor({ maxFlows, maxSockets, ...parts }: PortRelaysOptions) {
    const onRefused = reporter(parts.onRefused);
    this.#parts = {
      ...parts,
      onChange: reporter(parts.onChange),
      flows: new UdpTracker({ most: maxFlows, mostOfSource: maxFlows / 2 }),
      addresses: new LocalAddresses(),
      maxAddresses: () => {
        const each = Math.floor(maxSockets / Math.max(1, this.#portsOnAllAddresses));
        return Math.min(MOST_ADDRESSES, each);
      },
      onRefused: (relay, error) => {
        this.refusals[relay.protocol] += 1;
        onRefused(relay, error);
      },
    };
  }

  get standings(): readonly PortStanding[] {
    return this.#judged.map(({ wanted, refusal }) => {
      const { proto, listen, to } = wanted;
      const relay = this.#relays.get(keyOf(wanted));
      const stands =
        refusal !== undefined
          ? { state: 'rejected' as const, detail: refusal, open: 0 }
          : relay === undefined
            ? { state: 'down' as const, detail: '', open: 0 }
            : { state: relay.state, detail: relay.detail, open: relay.openCount };
      return { proto, listen, to, ...stands };
    });
  }

  /** Starts and closes relays to match `ports`. A relay with a new target keeps its listener. */
  want(ports: readonly WantedPort[], facts: PortFacts): void {
    this.#judged = judgePorts(ports, facts);
    this.#reconcile();
  }

  setDown(isDown: boolean): void {
    this.#isDown = isDown;
    this.#reconcile();
    for (const relay of this.#relays.values()) relay.retry();
  }

  async close(): Promise<void> {
    this.#judged = [];
    this.#reconcile();
    await Promise.all(this.#closing);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  get #portsOnAllAddresses(): number {
    let count = 0;
    for (const { protocol, listen } of this.#relays.values())
      if (protocol === 'udp' && listen.host === ANY) count += 1;
    return count;
  }

  #reconcile(): void {
    const wanted = this.#judged.filter(({ refusal }) => refusal === undefined && !this.#isDown);
    const keys = new Set(wanted.map(({ wanted: port }) => keyOf(port)));
    for (const [key, relay] of this.#relays) {
      if (keys.has(key)) continue;
      this.#relays.delete(key);
      const closed = relay.close().finally(() => this.#closing.delete(closed));
      this.#closing.add(closed);
    }
    for (const { wanted: port, listen, to } of wanted) {
      const key = keyOf(port);
      const relay = this.#relays.get(key);
      if (relay === undefined)
        this.#relays.set(key, new PortRelay(port.proto, listen, to, this.#parts));
      else if (relay.to.host !== to.host || relay.to.port !== to.port) relay.leadTo(to);
    }
  }
}

function keyOf({ proto, listen }: WantedPort): string {
  return `${proto} ${listen}`;
}
