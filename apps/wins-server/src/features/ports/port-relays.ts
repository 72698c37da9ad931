import type { HostPortSettings } from '@wins/config';
import { UdpTracker } from '@wins/tcp-tunnel';
import type { ResourceRow } from '../../kernel/admission/resources.js';
import { judgePorts, type JudgedPort, type PortFacts } from './judge-ports.js';
import { PortRelay, type RelayParts, type RelayState } from './port-relay.js';

/** State of a desired port. `rejected`: it may not be relayed. `down`: an administrator has closed it. */
export interface PortStanding {
  readonly proto: 'tcp' | 'udp';
  readonly listen: string;
  readonly to: string;
  readonly state: RelayState | 'rejected' | 'down';
  readonly detail: string;
  readonly open: number;
}

export interface PortRelaysOptions extends Omit<RelayParts, 'flows'> {
  readonly flows: Pick<ResourceRow, 'total'>;
}

/** Desired ports of the host that lead to containers. Its opener closes it. */
export class PortRelays implements AsyncDisposable {
  readonly #parts: RelayParts;
  /** Relays by protocol and listen address, so that each port has one owner. */
  readonly #relays = new Map<string, PortRelay>();
  readonly #closing = new Set<Promise<void>>();
  /** Number of connections and flow attempts that were not relayed. */
  readonly refusals = { tcp: 0, udp: 0 };
  #judged: readonly JudgedPort[] = [];
  #isDown = false;

  constructor({ flows: { total }, ...parts }: PortRelaysOptions) {
    // A quarter for one address, so that it cannot use the whole capacity.
    this.#parts = {
      ...{ ...parts, flows: new UdpTracker({ most: total, mostOfSource: total / 4 }) },
      onRefused: (relay, error) => {
        this.refusals[relay.protocol] += 1;
        parts.onRefused(relay, error);
      },
    };
  }

  /** State of each desired port, in the order of the config. */
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

  /** Sets the desired ports. Unchanged ports are not touched; a port with a new target keeps its listener. */
  want(ports: readonly HostPortSettings[], facts: PortFacts): void {
    this.#judged = judgePorts(ports, facts);
    this.#reconcile();
  }

  /** Closes all ports until the next call, or reopens them at once. */
  setDown(isDown: boolean): void {
    this.#isDown = isDown;
    this.#reconcile();
    for (const relay of this.#relays.values()) relay.retry();
  }

  /** Closes every port and waits until all are free. */
  async close(): Promise<void> {
    this.#judged = [];
    this.#reconcile();
    await Promise.all(this.#closing);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
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

function keyOf({ proto, listen }: HostPortSettings): string {
  return `${proto} ${listen}`;
}
