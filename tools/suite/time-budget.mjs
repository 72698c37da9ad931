/** Adds up the time that tasks take, those included that still run. */
export class TimeBudget {
  #ms;
  #now;
  #spentMs = 0;
  /** When each running task began. @type {Set<{ beganMs: number }>} */
  #running = new Set();

  /**
   * @param {number} ms
   * @param {() => number} [now]
   */
  constructor(ms, now = () => performance.now()) {
    if (!(ms > 0)) throw new Error('a budget of time wants a number of minutes above 0');
    this.#ms = ms;
    this.#now = now;
  }

  get isSpent() {
    const now = this.#now();
    const running = Array.from(this.#running, ({ beganMs }) => now - beganMs);
    return running.reduce((sum, ms) => sum + ms, this.#spentMs) >= this.#ms;
  }

  /** @param {() => Promise<unknown>} run */
  async spend(run) {
    const task = { beganMs: this.#now() };
    this.#running.add(task);
    try {
      await run();
    } finally {
      this.#running.delete(task);
      this.#spentMs += this.#now() - task.beganMs;
    }
  }
}
