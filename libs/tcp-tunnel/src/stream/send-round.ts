import type { MessageTransport } from './message-transport.js';
import { Fifo } from './fifo.js';
import type { FlowLimits } from './flow-control.js';

/** One message, which consists of `message` and `rest`. */
export interface OutgoingMessage {
  readonly bodyBytes: number;
  readonly message: Buffer;
  readonly rest: readonly Buffer[];
}

export interface RoundMember {
  /** Only `SendRound` sets this. */
  queued: boolean;
  readonly sendable: boolean;
  readonly waitingBytes: number;
  takeMessage(): OutgoingMessage;
  messageSent(): void;
}

/** Number of turns for which a stream counts as interactive after a small message. A turn is `turnBytes` of sent data. */
const SPARSE_TURNS = 64;

/**
 * Round-robin scheduler: sends one message of each member while the transport buffers less than `inFlightBytes`.
 * Resumes when the transport reports a sent message, and at each session tick in case a report was lost.
 *
 * After `loneTurnBytes`, large messages pause until all other ready work in the process has run. Small messages
 * continue. If another stream sends small messages, large ones pause sooner, after `turnBytes`, for a millisecond.
 * Without these pauses, a bulk stream would use all processor time and delay the small messages.
 */
export class SendRound {
  readonly #transport: MessageTransport;
  readonly #limits: FlowLimits;
  readonly #waiting = new Fifo<RoundMember>();
  readonly #resting = new Fifo<RoundMember>();
  #running = false;
  #sentBytes = 0;
  #turn = { beganAt: 0, spent: false };
  /** Member that last sent a small message, and the total number of bytes sent at that time. */
  #sparse: { readonly member: RoundMember; readonly at: number } | undefined;

  constructor(transport: MessageTransport, limits: FlowLimits) {
    this.#transport = transport;
    this.#limits = limits;
  }

  /** The transport also calls this after messages that bypassed the round. */
  readonly sent = (): void => {
    if (this.#waiting.length > 0) this.run();
  };

  join(member: RoundMember): void {
    this.#enqueue(member);
    this.run();
  }

  run(): void {
    // Avoid re-entry, because `messageSent` may make a member join again synchronously.
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

  /** True when somebody probably waits for a stream other than `member`, because that stream sent a small message recently. */
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
