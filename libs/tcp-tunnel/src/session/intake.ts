import type { MessageTransport, Reading } from '../stream/message-transport.js';
import { Fifo } from '../stream/fifo.js';

/**
 * Matches pings and answers by counting, because the pongs of remotedialer are empty. A peer answers pings in order,
 * each after all earlier messages.
 */
export class Probes {
  #pings = 0;
  #pongs = 0;
  #isOver = false;
  readonly #waiting = new Set<{ ping: number; settle: (isAnswered: boolean) => void }>();

  sent(): void {
    this.#pings += 1;
  }

  answered(): void {
    this.#pongs += 1;
    for (const asked of this.#waiting) {
      if (asked.ping > this.#pongs) continue;
      this.#waiting.delete(asked);
      asked.settle(true);
    }
  }

  /**
   * Waits for the answer to the ping that was sent most recently. Resolves with true when the peer has answered, or
   * with false if the session ends first.
   */
  next(): Promise<boolean> {
    if (this.#isOver) return Promise.resolve(false);
    return new Promise((settle) => this.#waiting.add({ ping: this.#pings, settle }));
  }

  end(): void {
    this.#isOver = true;
    for (const { settle } of this.#waiting) settle(false);
    this.#waiting.clear();
  }
}

/** Cost of answering a message, in units of one Connect. */
export type Work = number | 'over-rate';

/** Maximum number of Connects answered per turn of the event loop; they take about half a millisecond. */
const WORK_PER_TURN = 32;
/** Pause in milliseconds after a message that exceeds its peer's rate. */
const OVER_RATE_REST_MS = 5;

/**
 * Processes a session's messages in order, with a limit per turn of the event loop, so that other work is not starved.
 * At the limit, pauses the transport and holds the rest of its last read.
 */
export class Intake {
  readonly #transport: Pick<MessageTransport, 'afterTurn'>;
  readonly #reading: Reading;
  readonly #answer: (message: Buffer) => Work;
  readonly #held = new Fifo<Buffer>();
  #work = 0;
  #isOverRate = false;
  #isResting = false;

  constructor(
    transport: Pick<MessageTransport, 'afterTurn'>,
    reading: Reading,
    answer: (message: Buffer) => Work,
  ) {
    this.#transport = transport;
    this.#reading = reading;
    this.#answer = answer;
  }

  /** True when messages are processed on arrival and none is held. */
  get isFree(): boolean {
    return !this.#isResting;
  }

  take(message: Buffer): void {
    if (this.#isResting) this.#held.push(message);
    else this.#handle(message);
  }

  /** Processes all held messages at once, because no more will arrive. */
  flush(): void {
    for (let held = this.#held.shift(); held; held = this.#held.shift()) this.#answer(held);
  }

  #handle(message: Buffer): void {
    const work = this.#answer(message);
    if (work === 0) return;
    if (this.#work === 0) this.#transport.afterTurn(0, () => this.#turn());
    this.#isOverRate = work === 'over-rate';
    this.#work += work === 'over-rate' ? WORK_PER_TURN : work;
    if (this.#work < WORK_PER_TURN) return;
    this.#isResting = true;
    this.#reading.hold('work');
  }

  #turn(): void {
    if (this.#isOverRate) {
      this.#isOverRate = false;
      this.#transport.afterTurn(OVER_RATE_REST_MS, () => this.#turn());
      return;
    }
    this.#work = 0;
    if (!this.#isResting) return;
    this.#isResting = false;
    while (!this.#resting) {
      const held = this.#held.shift();
      if (held === undefined) break;
      this.#handle(held);
    }
    if (!this.#resting) this.#reading.release('work');
  }

  /** Getter, because the compiler cannot see that the field changes while a message is handled. */
  get #resting(): boolean {
    return this.#isResting;
  }
}
