import type { MessageTransport } from './message-transport.js';
import { Fifo } from '../stream/fifo.js';
import type { FlowLimits } from '../stream/flow-control.js';

/** A message: its beginning and the rest of it, if it is in more than one part. */
export interface OutgoingMessage {
  readonly bodyBytes: number;
  readonly message: Buffer;
  readonly rest: readonly Buffer[];
}

export interface RoundMember {
  /** Owned by the round: the member waits in it. */
  queued: boolean;
  /** It has something to send and may. */
  readonly sendable: boolean;
  readonly waitingBytes: number;
  takeMessage(): OutgoingMessage;
  /** The message that was taken is with the transport. */
  messageSent(): void;
}

/** So many turns of bytes after its last message, a sparse stream no longer counts as interactive. */
const SPARSE_TURNS = 64;

/**
 * Sends one message of each member in turn while less than `inFlightBytes` wait in the transport. The transport's word that a
 * message went out starts it again; a session's tick does too, for a transport that forgot to say so.
 *
 * After `loneTurnBytes` the large messages rest until everything else in the process had its turn; small ones go on. While
 * another stream sends small messages they do so after `turnBytes`, and for a millisecond: a stream without end takes every
 * processor that it gets, in the programs at both its ends too, and what waits for a processor is the small stream's round trip.
 */
export class SendRound {
  readonly #transport: MessageTransport;
  readonly #limits: FlowLimits;
  readonly #waiting = new Fifo<RoundMember>();
  readonly #resting = new Fifo<RoundMember>();
  #running = false;
  #sentBytes = 0;
  #turn = { beganAt: 0, spent: false };
  /** Member that sent a small message last, and its position in all that was sent. */
  #sparse: { readonly member: RoundMember; readonly at: number } | undefined;

  constructor(transport: MessageTransport, limits: FlowLimits) {
    this.#transport = transport;
    this.#limits = limits;
  }

  /** The transport's word for every message, those that passed the round included. */
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
    while (this.#transport.bufferedBytes < this.#limits.inFlightBytes) {
      const member = this.#waiting.shift();
      if (member === undefined) break;
      if (this.#turn.spent && member.waitingBytes > this.#limits.sparseBytes)
        this.#resting.push(member);
      else this.#send(member);
    }
    this.#running = false;
  }

  clear(): void {
    this.#waiting.clear();
    this.#resting.clear();
    this.#sparse = undefined;
  }

  #send(member: RoundMember): void {
    member.queued = false;
    if (!member.sendable) return;
    const { bodyBytes, message, rest } = member.takeMessage();
    this.#transport.send(message, this.sent, rest);
    this.#count(member, bodyBytes);
    member.messageSent();
    this.#enqueue(member);
  }

  #count(member: RoundMember, bytes: number): void {
    const { turnBytes, loneTurnBytes, sparseBytes } = this.#limits;
    this.#sentBytes += bytes;
    if (bytes <= sparseBytes) this.#sparse = { member, at: this.#sentBytes };
    if (this.#turn.spent) return;
    const idle = this.#isWaitedForBeside(member);
    if (this.#sentBytes - this.#turn.beganAt < (idle ? turnBytes : loneTurnBytes)) return;
    this.#turn.spent = true;
    this.#transport.rest(idle, () => this.#nextTurn());
  }

  /** Another stream sent a small message not long ago. */
  #isWaitedForBeside(member: RoundMember): boolean {
    const sparse = this.#sparse;
    if (sparse === undefined || sparse.member === member) return false;
    return this.#sentBytes - sparse.at <= SPARSE_TURNS * this.#limits.turnBytes;
  }

  #nextTurn(): void {
    this.#turn = { beganAt: this.#sentBytes, spent: false };
    for (let member = this.#resting.shift(); member; member = this.#resting.shift())
      this.#waiting.push(member);
    this.run();
  }

  #enqueue(member: RoundMember): void {
    if (member.queued || !member.sendable) return;
    member.queued = true;
    this.#waiting.push(member);
  }
}
