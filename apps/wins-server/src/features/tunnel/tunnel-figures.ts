import type { Places } from '../../kernel/admission/places.js';
import type { ServerTunnel, TunnelTraffic } from '@wins/tcp-tunnel';

type OpenTunnels = ReadonlyMap<Pick<ServerTunnel, 'streamCount' | 'traffic'>, unknown>;

/** What the tunnel of the daemon is doing, and has done since its start. */
export class TunnelFigures {
  readonly #sessions: OpenTunnels;
  readonly #places: Pick<Places, 'size'>;
  #ended: Readonly<TunnelTraffic> = { receivedBytes: 0, sentBytes: 0, pauses: 0 };

  /** @param sessions - Those that are open, as their owner keeps them. */
  constructor(sessions: OpenTunnels, places: Pick<Places, 'size'>) {
    this.#sessions = sessions;
    this.#places = places;
  }

  /** Connections of the pipe, those included whose handshake goes on. */
  get connections(): number {
    return this.#places.size;
  }

  get sessions(): number {
    return this.#sessions.size;
  }

  get streams(): number {
    let count = 0;
    for (const { streamCount } of this.#sessions.keys()) count += streamCount;
    return count;
  }

  /** Of all sessions, those that have ended included. */
  get traffic(): Readonly<TunnelTraffic> {
    let sum = this.#ended;
    for (const { traffic } of this.#sessions.keys()) sum = add(sum, traffic);
    return sum;
  }

  /** A session leaves the map in this turn; what it has moved stays counted. */
  ended(traffic: Readonly<TunnelTraffic>): void {
    this.#ended = add(this.#ended, traffic);
  }
}

function add(one: Readonly<TunnelTraffic>, other: Readonly<TunnelTraffic>): TunnelTraffic {
  return {
    receivedBytes: one.receivedBytes + other.receivedBytes,
    sentBytes: one.sentBytes + other.sentBytes,
    pauses: one.pauses + other.pauses,
  };
}
