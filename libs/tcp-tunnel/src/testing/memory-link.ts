import { decodeMessage } from '../wire/encode.js';
import type { MessageTransport, TransportEvents } from '../stream/message-transport.js';

const LOSABLE: ReadonlySet<string> = new Set(['pause', 'resume', 'error', 'end']);

/** A message of at least this size may arrive in parts. */
const PARTS_FROM_BYTES = 80;
/** Callbacks of `afterTurn` with at least this delay run only in `elapse`. */
const LONG_MS = 1_000;

interface Sent {
  readonly bytes: Buffer;
  readonly sent: () => void;
}

/**
 * One direction of an in-memory transport. A sent message is buffered until `handOn` moves it to the `wire`, which holds
 * a few messages as a kernel does; `deliver` passes one to the other side. The spec decides when each step happens.
 */
export class MemoryLink implements MessageTransport {
  readonly #buffered: Sent[] = [];
  #bufferedBytes = 0;
  readonly #resting: (() => void)[] = [];
  readonly #turns: (() => void)[] = [];
  readonly #later: (() => void)[] = [];
  readonly #wireCapacity: number;
  readonly wire: Buffer[] = [];
  #delivered = 0;
  peer: TransportEvents | undefined;
  pings = 0;
  /** While true, callbacks given to `rest` do not run. */
  keepsResting = false;
  readonly rests: ('idle' | 'turn')[] = [];
  /** Number of messages still to lose. Only messages of `LOSABLE` types count. */
  toLose = 0;
  sentTypes = new Map<string, number>();
  ended = false;

  constructor(wireCapacity: number) {
    this.#wireCapacity = wireCapacity;
  }

  get bufferedBytes(): number {
    return this.#bufferedBytes;
  }

  get quiet(): boolean {
    return [this.#buffered, this.#resting, this.#turns].every(({ length }) => length === 0);
  }

  get idle(): boolean {
    return this.quiet && this.wire.length === 0;
  }

  /** Whether a message of this type was sent and is not delivered yet. */
  carries(type: string): boolean {
    return [...this.wire, ...this.#buffered.map(({ bytes }) => bytes)].some(
      (bytes) => decodeMessage(bytes).type === type,
    );
  }

  send(message: Buffer, sent: () => void, rest: readonly Buffer[] = []): void {
    if (this.ended) return;
    const bytes = Buffer.concat([message, ...rest]);
    const { type } = decodeMessage(bytes);
    this.sentTypes.set(type, (this.sentTypes.get(type) ?? 0) + 1);
    this.#buffered.push({ bytes, sent });
    this.#bufferedBytes += bytes.length;
  }

  rest(idle: boolean, then: () => void): void {
    this.rests.push(idle ? 'idle' : 'turn');
    this.#resting.push(then);
  }

  pause(): void {
    // Nothing to do: delivered messages count as already read.
  }

  resume(): void {
    // Nothing to do, as in `pause`.
  }

  afterTurn(delayMs: number, then: () => void): void {
    if (delayMs < LONG_MS) this.#turns.push(then);
    else this.#later.push(then);
  }

  ping(): void {
    this.pings += 1;
  }

  close(): void {
    this.ended = true;
  }

  terminate(): void {
    this.ended = true;
  }

  elapse(): void {
    for (const then of this.#later.splice(0)) then();
  }

  endTurn(): void {
    for (const then of this.#turns.splice(0)) then();
  }

  handOn(): void {
    this.endTurn();
    if (!this.keepsResting) for (const then of this.#resting.splice(0)) then();
    if (this.wire.length >= this.#wireCapacity) return;
    const entry = this.#buffered.shift();
    if (entry === undefined) return;
    this.#bufferedBytes -= entry.bytes.length;
    if (this.toLose > 0 && LOSABLE.has(decodeMessage(entry.bytes).type)) this.toLose -= 1;
    else this.wire.push(entry.bytes);
    entry.sent();
  }

  /** Drops all buffered messages without calling `sent`. */
  forget(): void {
    this.#buffered.length = 0;
    this.#bufferedBytes = 0;
  }

  deliver(): void {
    const sent = this.wire.shift();
    if (sent === undefined || this.peer === undefined) return;
    // Copy it, because a real transport reads into its own buffer.
    const bytes = Buffer.from(sent);
    this.#delivered += 1;
    const middle = bytes.length >> 1;
    const mayCut = bytes.length >= PARTS_FROM_BYTES && this.#delivered % 2 === 0;
    this.peer.message(mayCut ? [bytes.subarray(0, middle), bytes.subarray(middle)] : [bytes]);
  }
}
