import type { MessageTransport } from './message-transport.js';
import type { Reading } from './reading.js';
import { Fifo } from '../stream/fifo.js';

/** What a message costs to answer, in Connects. */
export type Work = number | 'over-rate';

/** Connects that are answered in one turn of the event loop: about half a millisecond. */
const WORK_PER_TURN = 32;
/** After a message beyond the rate of its peer nothing is answered for this long. */
const OVER_RATE_REST_MS = 5;

/**
 * Takes a session's messages in their order, and so much of them in one turn of the event loop that others get theirs. What came
 * meanwhile is held: one read of the transport, which then rests.
 */
export class Intake {
  readonly #transport: Pick<MessageTransport, 'afterTurn'>;
  readonly #reading: Reading;
  readonly #answer: (message: Buffer) => Work;
  readonly #held = new Fifo<Buffer>();
  #work = 0;
  #isOverRate = false;
  #isResting = false;

  /** @param answer - Answers one message and says what that cost. */
  constructor(
    transport: Pick<MessageTransport, 'afterTurn'>,
    reading: Reading,
    answer: (message: Buffer) => Work,
  ) {
    this.#transport = transport;
    this.#reading = reading;
    this.#answer = answer;
  }

  /** Messages are answered as they come, and none is held. */
  get isFree(): boolean {
    return !this.#isResting;
  }

  take(message: Buffer): void {
    if (this.#isResting) this.#held.push(message);
    else this.#handle(message);
  }

  /** Answers at once what is held: no more will come. */
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

  /** As the compiler cannot see that it changes while a message is handled. */
  get #resting(): boolean {
    return this.#isResting;
  }
}
