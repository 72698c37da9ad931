import { isDeepStrictEqual } from 'node:util';
import type { DesiredPeer } from '../plan/judge-peers.js';

/** So many peers may always go at once. */
const FREELY_DROPPED = 3;
const CONFIRMED_AFTER_MS = 10_000;

/** Believes that most peers are gone when it hears the same again, 10 s later or more: a source that starts may have few of them. */
export class ShrinkGuard {
  #doubted: { readonly peers: readonly DesiredPeer[]; readonly sinceMs: number } | undefined;

  /** Judges a snapshot. @returns 0 when it may be believed, else after how many milliseconds it is to be read again. */
  judge(known: readonly DesiredPeer[], next: readonly DesiredPeer[], nowMs: number): number {
    const routes = new Set(next.map(routeOf));
    const dropped = known.filter((one) => !routes.has(routeOf(one))).length;
    const doubted = this.#doubted;
    this.#doubted = undefined;
    if (dropped <= FREELY_DROPPED || dropped * 2 <= known.length) return 0;
    const isSame = doubted !== undefined && isDeepStrictEqual(doubted.peers, next);
    const sinceMs = isSame ? Math.min(doubted.sinceMs, nowMs) : nowMs;
    const leftMs = CONFIRMED_AFTER_MS - (nowMs - sinceMs);
    if (leftMs <= 0) return 0;
    this.#doubted = { peers: next, sinceMs };
    return leftMs;
  }
}

function routeOf({ id, subnet, nextHop }: DesiredPeer): string {
  return [id, subnet, nextHop].join(' ');
}
