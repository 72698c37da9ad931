import { LIMITS } from './connection-limits.js';
import { ConnectionFault } from './end-reason.js';
import { FLAG, FRAME, type Frame } from './frame.js';

export interface HeaderBlock {
  readonly streamId: number;
  readonly endStream: boolean;
  readonly octets: Buffer;
}

/** @throws ConnectionFault `badFrame` when the padding is longer than the frame. */
export function withoutPadding({ flags, payload }: Frame): Buffer {
  if ((flags & FLAG.padded) === 0) return payload;
  const padding = payload[0];
  if (padding === undefined || padding >= payload.length) throw new ConnectionFault('badFrame');
  return payload.subarray(1, payload.length - padding);
}

/** Joins a HEADERS frame and its CONTINUATION frames. */
export class HeaderBlockReader {
  #begun: { streamId: number; endStream: boolean } | undefined;
  #parts: Buffer[] = [];
  #octets = 0;

  get heldOctets(): number {
    return this.#octets;
  }

  get isOpen(): boolean {
    return this.#begun !== undefined;
  }

  /** Adds a HEADERS or CONTINUATION frame. Returns the block once complete. @throws ConnectionFault `badFrame`, `headersTooLarge` */
  take(frame: Frame): HeaderBlock | undefined {
    const { type, flags, streamId } = frame;
    if (type === FRAME.headers) {
      let part = withoutPadding(frame);
      if ((flags & FLAG.priority) !== 0) {
        if (part.length < 5) throw new ConnectionFault('badFrame');
        part = part.subarray(5);
      }
      this.#begun = { streamId, endStream: (flags & FLAG.endStream) !== 0 };
      this.#add(part);
    } else {
      if (this.#begun?.streamId !== streamId) throw new ConnectionFault('badFrame');
      this.#add(frame.payload);
    }
    if ((flags & FLAG.endHeaders) === 0) return undefined;
    const [only] = this.#parts;
    const octets = this.#parts.length === 1 && only ? only : Buffer.concat(this.#parts);
    const block = { ...this.#begun, octets };
    this.#begun = undefined;
    this.#parts = [];
    this.#octets = 0;
    return block;
  }

  #add(part: Buffer): void {
    this.#octets += part.length;
    if (this.#octets > LIMITS.headerOctets || this.#parts.length > LIMITS.continuations)
      throw new ConnectionFault('headersTooLarge');
    // A slice would keep the whole chunk in memory.
    this.#parts.push(Buffer.from(part));
  }
}
