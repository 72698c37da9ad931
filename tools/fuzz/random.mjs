/** Pseudo-random numbers that depend only on the seed and the case. */
export class Random {
  #state;

  constructor(seed, index) {
    this.#state = (Math.imul(seed, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b)) >>> 0;
    for (let round = 0; round < 4; round += 1) this.below(2);
  }

  /** From 0 to `limit` - 1 (mulberry32). */
  below(limit) {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  }

  chance(part) {
    return this.below(1 << 20) < part * (1 << 20);
  }

  pick(list) {
    return list[this.below(list.length)];
  }

  /** Chooses one pair `[weight, make]` by weight and calls its `make`. */
  choose(...ways) {
    let left = this.below(ways.reduce((sum, [weight]) => sum + weight, 0));
    for (const [weight, make] of ways) {
      left -= weight;
      if (left < 0) return make();
    }
    return undefined;
  }

  list(most, make) {
    return Array.from({ length: this.below(most + 1) }, (_, index) => make(index));
  }

  hex(octets) {
    return Array.from({ length: octets }, () => this.below(256).toString(16).padStart(2, '0')).join(
      '',
    );
  }

  /** Returns a size: usually small, sometimes at a limit. */
  size() {
    return this.choose(
      [6, () => this.below(20)],
      [3, () => this.below(3000)],
      [1, () => this.pick([0, 1, 4, 5, 255, 256, 16_383, 16_384, 16_385, 65_535, 65_536])],
    );
  }
}
