/** Begins a dial, which says `done` when it is over; what is returned gives it up. */
export type BeginDial = (done: () => void) => () => void;

interface Peer {
  readonly name: string;
  dialling: number;
  /** In the order of their coming. */
  readonly waiting: Set<() => void>;
}

/**
 * Dials under way at a time: so many for one peer, so many for all. Others wait, and a slot that becomes free goes to
 * the peer with the fewest: the many of one do not come before the first of another.
 */
export class DialSlots {
  readonly #peers = new Map<string, Peer>();
  #dialling = 0;
  #isChoosing = false;

  readonly #most: number;
  readonly #mostPerPeer: number;

  /**
   * @param most - Dials under way at a time.
   * @param mostPerPeer - Of these, for one peer.
   */
  constructor(most: number, mostPerPeer: number) {
    this.#most = most;
    this.#mostPerPeer = mostPerPeer;
  }

  get peerCount(): number {
    return this.#peers.size;
  }

  /**
   * Begins a dial, at once if there is a slot for it.
   *
   * @returns Takes it back: it is given up, or never begins. Idempotent; afterwards and after `done` it does nothing.
   */
  dial(name: string, begin: BeginDial): () => void {
    const peer = this.#peers.get(name) ?? { name, dialling: 0, waiting: new Set() };
    this.#peers.set(name, peer);
    let giveUp: (() => void) | undefined;
    let isOver = false;
    const done = (): void => {
      if (isOver) return;
      isOver = true;
      peer.dialling -= 1;
      this.#dialling -= 1;
      this.#forget(peer);
      this.#next();
    };
    const start = (): void => void (giveUp = begin(done));
    peer.waiting.add(start);
    this.#next();
    return () => {
      if (peer.waiting.delete(start)) this.#forget(peer);
      if (isOver || giveUp === undefined) return;
      giveUp();
      done();
    };
  }

  #next(): void {
    // A dial may be over as soon as it begins.
    if (this.#isChoosing) return;
    this.#isChoosing = true;
    for (let chosen = this.#choose(); chosen; chosen = this.#choose()) {
      const [start] = chosen.waiting;
      // Among equals the next one is another.
      this.#peers.delete(chosen.name);
      this.#peers.set(chosen.name, chosen);
      if (start === undefined) break;
      chosen.waiting.delete(start);
      chosen.dialling += 1;
      this.#dialling += 1;
      start();
    }
    this.#isChoosing = false;
  }

  /** Of the peers that wait, the one with the fewest dials under way. */
  #choose(): Peer | undefined {
    let chosen: Peer | undefined;
    if (this.#dialling >= this.#most) return undefined;
    for (const peer of this.#peers.values()) {
      if (peer.waiting.size === 0 || peer.dialling >= (chosen?.dialling ?? this.#mostPerPeer))
        continue;
      chosen = peer;
    }
    return chosen;
  }

  #forget(peer: Peer): void {
    if (peer.dialling === 0 && peer.waiting.size === 0) this.#peers.delete(peer.name);
  }
}
