import type { Duplex } from 'node:stream';
import { ConnectionFault } from './end-reason.js';
import { FLAG, FRAME, FRAME_HEADER_OCTETS, DEFAULT_FRAME_OCTETS } from './frame.js';
import { DEFAULT_WINDOW_OCTETS, LARGEST_WINDOW_OCTETS, writeFrameHeader } from './frame.js';

/** Octets that are given to the socket before it is asked whether it can keep up. */
const ROUND_OCTETS = 128 * 1024;
/** Larger frames than this save nothing. */
const LARGEST_FRAME_OCTETS = 64 * 1024;

/** A stream as its output sees it. */
export interface OutputStream {
  readonly id: number;
  /** Octets that the peer allows for this stream; sending reduces it. */
  sendWindow: number;
  /** Octets that wait to be sent. */
  readonly waiting: number;
  /** Gives the next octets, at most so many. */
  takeOutput(most: number): Buffer;
  /** Called once the data of `takeOutput` was handed to the socket. */
  outputTaken(): void;
}

/** Events of an output for its connection. */
export interface OutputEvents {
  /** So many DATA frames were sent. */
  readonly sent: (dataFrames: number) => void;
  /** The amount of data that the socket holds has changed. */
  readonly changed: () => void;
}

/**
 * Sends what the streams of a connection have: they take turns, the peer's windows are kept, and what was written is not copied. It
 * gives the socket no more while that cannot keep up; what waits stays with the streams.
 */
export class Output {
  /** Octets that the peer allows for all streams together. */
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

  /** The largest payload of a frame that the peer takes. */
  set largestFrame(octets: number) {
    this.#frameOctets = Math.min(octets, LARGEST_FRAME_OCTETS);
  }

  /** The peer allows so many octets more for all streams together. @throws ConnectionFault beyond the largest window. */
  widen(octets: number): void {
    this.#window += octets;
    if (this.#window > LARGEST_WINDOW_OCTETS) throw new ConnectionFault('windowExceeded');
    this.#schedule();
  }

  /** Sends a frame as it is, before all that waits. */
  send(frame: Buffer): void {
    if (!this.#socket.writable) return;
    this.#socket.write(frame);
    this.#events.changed();
  }

  /** A stream has something to send, or may send again. */
  add(stream: OutputStream): void {
    if (stream.waiting === 0) return;
    this.#waiting.add(stream);
    this.#schedule();
  }

  remove(stream: OutputStream): void {
    this.#waiting.delete(stream);
  }

  /** Sends soon: what is written in one go goes out in one go. */
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
      let room = ROUND_OCTETS;
      let frames = 0;
      for (const stream of this.#waiting) {
        if (room <= 0 || this.#window <= 0 || !socket.writable) break;
        this.#waiting.delete(stream);
        const octets = Math.min(room, this.#window, stream.sendWindow, stream.waiting);
        if (octets <= 0) continue;
        frames += this.#sendData(stream, octets);
        room -= octets;
        this.#window -= octets;
        stream.sendWindow -= octets;
        stream.outputTaken();
        // Behind all others; a set is walked in the order in which its members came.
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

/** The flags of a HEADERS frame that is a whole block. */
export function headersFlags(endStream: boolean): number {
  return FLAG.endHeaders | (endStream ? FLAG.endStream : 0);
}
