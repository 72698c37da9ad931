import { ConnectionFault } from './end-reason.js';
import { DEFAULT_FRAME_OCTETS, FRAME_HEADER_OCTETS, type Frame } from './frame.js';

/** Checks the preface, and splits later input into frames. Copies only frames that are split between chunks. */
export class FrameReader {
  #prefaceSeen = 0;
  readonly #header = Buffer.allocUnsafe(FRAME_HEADER_OCTETS);
  #headerOctets = 0;
  #body: Buffer | undefined;
  #bodyOctets = 0;
  readonly #preface: Buffer;

  /** @param preface - Bytes expected before the first frame; empty when reading from a server. */
  constructor(preface: Buffer) {
    this.#preface = preface;
  }

  get heldOctets(): number {
    return this.#body?.length ?? 0;
  }

  /** Passes each completed frame to `take` until it returns false. @throws ConnectionFault `notHttp2`, `frameSize`, or what `take` throws. */
  read(chunk: Buffer, take: (frame: Frame) => boolean): void {
    let at = this.#readPreface(chunk);
    while (at < chunk.length) {
      at += this.#readHeader(chunk, at);
      if (this.#headerOctets < FRAME_HEADER_OCTETS) return;
      const length = this.#header.readUIntBE(0, 3);
      if (length > DEFAULT_FRAME_OCTETS) throw new ConnectionFault('frameSize');
      let payload: Buffer;
      if (this.#body === undefined && chunk.length - at >= length) {
        payload = chunk.subarray(at, at + length);
        at += length;
      } else {
        this.#body ??= Buffer.allocUnsafe(length);
        const end = at + length - this.#bodyOctets;
        const copied = chunk.copy(this.#body, this.#bodyOctets, at, end);
        this.#bodyOctets += copied;
        at += copied;
        if (this.#bodyOctets < length) return;
        payload = this.#body.subarray(0, length);
      }
      this.#body = undefined;
      this.#bodyOctets = 0;
      this.#headerOctets = 0;
      const header = this.#header;
      const [type, flags] = [header[3] as number, header[4] as number];
      const streamId = header.readUInt32BE(5) & 0x7fffffff;
      if (!take({ type, flags, streamId, payload })) return;
    }
  }

  #readPreface(chunk: Buffer): number {
    let at = 0;
    while (this.#prefaceSeen < this.#preface.length && at < chunk.length) {
      if (chunk[at++] !== this.#preface[this.#prefaceSeen++]) throw new ConnectionFault('notHttp2');
    }
    return at;
  }

  #readHeader(chunk: Buffer, at: number): number {
    const end = at + FRAME_HEADER_OCTETS - this.#headerOctets;
    const copied = chunk.copy(this.#header, this.#headerOctets, at, end);
    this.#headerOctets += copied;
    return copied;
  }
}
