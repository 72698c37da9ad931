import { LIMITS } from './connection-limits.js';
import { ConnectionFault } from './end-reason.js';
import { SEGMENT_OCTETS, type SegmentPool } from './segment-pool.js';

/** Length of the gRPC prefix of a message: flag and message length. */
export const MESSAGE_HEADER_OCTETS = 5;
/** Added to the size of each message, because many small messages use more memory than their octets. */
export const MESSAGE_OVERHEAD_OCTETS = 256;
const OCTETS_PER_FRAME = 256;

/** A gRPC status that answers a request without its handler. */
export interface Refusal {
  readonly status: number;
  readonly message: string;
  /** Additional headers of the answer. Default: none. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

const RESOURCE_EXHAUSTED = 8;
const UNIMPLEMENTED = 12;

/** Assembles whole messages, with their prefix. Allocates as data arrives, not by announced length. */
export class MessageGatherer {
  readonly #header = Buffer.allocUnsafe(MESSAGE_HEADER_OCTETS);
  #headerOctets = 0;
  #segments: Buffer[] = [];
  #length = 0;
  #octets = 0;
  #frames = 0;
  readonly #pool: SegmentPool;

  constructor(pool: SegmentPool) {
    this.#pool = pool;
  }

  /** Octets of memory for the incomplete message. */
  get capacity(): number {
    if (this.#length === 0) return 0;
    return this.#segments.length * SEGMENT_OCTETS + MESSAGE_OVERHEAD_OCTETS;
  }

  get isUnfinished(): boolean {
    return this.#headerOctets > 0;
  }

  /**
   * Passes on each completed message. After a refusal, the caller must pass no further data. @throws ConnectionFault
   * `tooManyFramesPerMessage`
   */
  take(data: Buffer, handOn: (message: Buffer) => void): Refusal | undefined {
    this.#frames += 1;
    if (this.#frames > LIMITS.framesPerMessage + this.#length / OCTETS_PER_FRAME)
      throw new ConnectionFault('tooManyFramesPerMessage');
    for (let at = 0; at < data.length;) {
      if (this.#length === 0) {
        const end = at + MESSAGE_HEADER_OCTETS - this.#headerOctets;
        const copied = data.copy(this.#header, this.#headerOctets, at, end);
        at += copied;
        this.#headerOctets += copied;
        if (this.#headerOctets < MESSAGE_HEADER_OCTETS) return undefined;
        const refusal = this.#begin();
        if (refusal !== undefined) return refusal;
      }
      at += this.#fill(data, at);
      if (this.#octets < this.#length) continue;
      const whole = Buffer.concat(this.#segments, this.#length);
      this.release();
      handOn(whole);
    }
    return undefined;
  }

  release(): void {
    this.#pool.give(this.#segments);
    this.#segments = [];
    this.#headerOctets = 0;
    this.#length = 0;
    this.#octets = 0;
    this.#frames = 0;
  }

  #begin(): Refusal | undefined {
    const length = this.#header.readUInt32BE(1);
    const { messageOctets } = LIMITS;
    if (this.#header[0] !== 0) {
      const message = 'cannot accept a compressed message; wanted the encoding identity';
      return { status: UNIMPLEMENTED, message };
    }
    if (length > messageOctets) {
      const message = `cannot accept a message of ${length} bytes; the maximum is ${messageOctets}`;
      return { status: RESOURCE_EXHAUSTED, message };
    }
    this.#length = length + MESSAGE_HEADER_OCTETS;
    this.#fill(this.#header, 0);
    return undefined;
  }

  #fill(data: Buffer, from: number): number {
    let at = from;
    while (at < data.length && this.#octets < this.#length) {
      const offset = this.#octets % SEGMENT_OCTETS;
      if (offset === 0) this.#segments.push(this.#pool.take());
      const segment = this.#segments[this.#segments.length - 1] as Buffer;
      const end = at + Math.min(data.length - at, this.#length - this.#octets);
      const copied = data.copy(segment, offset, at, end);
      this.#octets += copied;
      at += copied;
    }
    return at - from;
  }
}
