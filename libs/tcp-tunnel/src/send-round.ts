import type { Carrier } from './carrier.js';
import { Fifo } from './fifo.js';

/** Something that has messages to send now and then. */
export interface RoundMember {
  /** Owned by the round: the member waits in it. */
  queued: boolean;
  /** It has something to send and may. */
  readonly sendable: boolean;
  takeMessage(): Buffer;
  /** The message that was taken is with the carrier. */
  messageSent(): void;
}

/**
 * Sends one message of each member in turn while less than `inFlightBytes` wait in the carrier. The carrier's word that a
 * message went out starts it again; a session's tick does too, for a carrier that forgot to say so.
 */
export class SendRound {
  readonly #carrier: Carrier;
  readonly #inFlightBytes: number;
  readonly #waiting = new Fifo<RoundMember>();
  #running = false;

  constructor(carrier: Carrier, inFlightBytes: number) {
    this.#carrier = carrier;
    this.#inFlightBytes = inFlightBytes;
  }

  /** The carrier's word for every message, those that passed the round included. */
  readonly sent = (): void => {
    if (this.#waiting.length > 0) this.run();
  };

  join(member: RoundMember): void {
    this.#enqueue(member);
    this.run();
  }

  run(): void {
    // A member whose write is over may offer its next one from within.
    if (this.#running) return;
    this.#running = true;
    while (this.#carrier.bufferedBytes < this.#inFlightBytes) {
      const member = this.#waiting.shift();
      if (member === undefined) break;
      member.queued = false;
      if (!member.sendable) continue;
      this.#carrier.send(member.takeMessage(), this.sent);
      member.messageSent();
      this.#enqueue(member);
    }
    this.#running = false;
  }

  clear(): void {
    this.#waiting.clear();
  }

  #enqueue(member: RoundMember): void {
    if (member.queued || !member.sendable) return;
    member.queued = true;
    this.#waiting.push(member);
  }
}
