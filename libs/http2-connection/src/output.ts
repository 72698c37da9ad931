import type { Duplex } from 'node:stream';
import { ConnectionFault } from './end-reason.js';
import {
  FRAME,
  FRAME_HEADER_OCTETS,
  DEFAULT_FRAME_OCTETS,
  DEFAULT_WINDOW_OCTETS,
  LARGEST_WINDOW_OCTETS,
  writeFrameHeader,
} from './frame.js';

/** After this many octets, checks whether the socket keeps up. */
const ROUND_OCTETS = 128 * 1024;
/** Maximum frame size; larger frames save nothing. */
const LARGEST_FRAME_OCTETS = 64 * 1024;

export interface OutputStream {
  readonly id: number;
  /** Send window in octets; sending reduces it. */
  sendWindow: number;
  readonly waiting: number;
  takeOutput(most: number): Buffer;
  outputTaken(): void;
}

export interface OutputEvents {
  readonly sent: (dataFrames: number) => void;
  readonly changed: () => void;
}

/** Sends data of streams in turn, within the peer's windows, without copying. Data waits while the socket does not keep up. */
export class Output {
  #window = DEFAULT_WINDOW_OCTETS;
  #frameOctets = DEFAULT_FRAME_OCTETS;
  readonly #waiting = new Set<OutputStream>();
  #isScheduled = false;
  #isFlushing = false;
  readonly #socket: Duplex;
  readonly #events: OutputEvents;

  constructor(socket: Duplex, events: OutputEvents) {
    this.#socket = socket;
    this.#events = events;
    socket.on('drain', () => {
      events.changed();
      this.#flush();
    });
  }

  /** Maximum frame payload that the peer accepts. */
  set largestFrame(octets: number) {
    this.#frameOctets = Math.min(octets, LARGEST_FRAME_OCTETS);
  }

  /** @throws ConnectionFault beyond the largest window. */
  widen(octets: number): void {
    this.#window += octets;
    if (this.#window > LARGEST_WINDOW_OCTETS) throw new ConnectionFault('windowExceeded');
    this.#schedule();
  }

  /** Sends a frame unchanged, ahead of all waiting data. */
  send(frame: Buffer): void {
    if (!this.#socket.writable) return;
    this.#socket.write(frame);
    this.#events.changed();
  }

  /** Called when a stream has data to send, or may send again. */
  add(stream: OutputStream): void {
    if (stream.waiting === 0) return;
    this.#waiting.add(stream);
    this.#schedule();
  }

  remove(stream: OutputStream): void {
    this.#waiting.delete(stream);
  }

  /** Sends, in one batch, all data written in the same tick. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    process.nextTick(() => {
      this.#isScheduled = false;
      this.#flush();
    });
  }

  #flush(): void {
    const socket = this.#socket;
    if (this.#isFlushing || !this.#maySend()) return;
    this.#isFlushing = true;
    socket.cork();
    try {
      let left = ROUND_OCTETS;
      let frames = 0;
      for (const stream of this.#waiting) {
        if (left <= 0 || this.#window <= 0 || !socket.writable) break;
        this.#waiting.delete(stream);
        const octets = Math.min(left, this.#window, stream.sendWindow, stream.waiting);
        if (octets <= 0) continue;
        frames += this.#sendData(stream, octets);
        left -= octets;
        this.#window -= octets;
        stream.sendWindow -= octets;
        stream.outputTaken();
        // Moves the stream behind all others, because a set iterates in insertion order.
        if (stream.waiting > 0) this.#waiting.add(stream);
      }
      if (frames > 0) this.#events.sent(frames);
    } finally {
      socket.uncork();
      this.#isFlushing = false;
    }
    this.#events.changed();
    if (this.#maySend()) this.#schedule();
  }

  #maySend(): boolean {
    const window = this.#window;
    const waiting = this.#waiting;
    const socket = this.#socket;
    return waiting.size > 0 && window > 0 && socket.writable && !socket.writableNeedDrain;
  }

  #sendData(stream: OutputStream, octets: number): number {
    const data = stream.takeOutput(octets);
    const frames = Math.ceil(data.length / this.#frameOctets);
    const headers = Buffer.allocUnsafe(frames * FRAME_HEADER_OCTETS);
    for (let index = 0; index < frames; index++) {
      const part = data.subarray(index * this.#frameOctets, (index + 1) * this.#frameOctets);
      const at = index * FRAME_HEADER_OCTETS;
      writeFrameHeader(headers, at, part.length, FRAME.data, 0, stream.id);
      this.#socket.write(headers.subarray(at, at + FRAME_HEADER_OCTETS));
      this.#socket.write(part);
    }
    return frames;
  }
}
