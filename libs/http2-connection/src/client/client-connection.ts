import { TokenBucket } from '@wins/time';
import type { Duplex } from 'node:stream';
import { answerFields } from '../answer-fields.js';
import { ConnectionFault, HTTP2_CODE, http2CodeOf, type EndReason } from '../end-reason.js';
import * as wire from '../frame.js';
import { FLAG, FRAME, SETTING, type Frame } from '../frame.js';
import { FrameReader } from '../frame-reader.js';
import { decodeBlock, HeaderBlockReader, type HeaderBlock } from '../header-block.js';
import { HpackDecoder } from '../hpack/hpack-decoder.js';
import { HpackEncoder } from '../hpack/hpack-encoder.js';
import { isSettingsAck, readSettings, readWindowStep, requireFrame } from '../judge-frame.js';
import type { GathererLimits } from '../message-gatherer.js';
import { Output } from '../output.js';
import { GrpcCall, type GrpcCallLink, type GrpcOutcome } from './grpc-call.js';

/** Why a connection to a server ended; the first cause. */
export type ClientEndReason = EndReason | 'serverGone';

/** What a call says first. */
export interface GrpcRequest {
  /** `/package.Service/Method`. */
  readonly path: string;
  /** More headers. Default: none. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The message, without the octets that gRPC puts before it. */
  readonly message: Buffer;
  /**
   * Whether the call may be made twice without harm, as one that only asks. It goes out with the first words of a connection, which saves the
   * time of a way there and back, and is `notTaken` when the connection ends before the server has spoken. Default: false.
   */
  readonly isRepeatable?: boolean;
}

/** What is known when the client is made. */
export interface ClientParts {
  readonly limits: GathererLimits;
  /** What the server may send of an answer before it waits for us, in octets. */
  readonly windowOctets: number;
}

const HEADER_LIMITS = { octets: 64 * 1024, continuations: 8 };
const HEADER_FIELDS = 128;
/** For the last words to a server, before its socket is destroyed. */
const LINGER_MS = 500;
/** Frames that are neither headers nor messages of a call, and those of calls that are over. */
const OTHER_FRAMES = { burst: 1024, perSecond: 500 };

/**
 * The client's half of a connection. It is one file because it is one thing, as the server's half: what each frame of a server does to
 * the calls and windows, and how all of them end together.
 */
export class ClientConnection implements GrpcCallLink {
  /** Resolves once the server has spoken HTTP/2, or with the reason why it never will. */
  readonly ready: Promise<ClientEndReason | undefined>;
  readonly closed: Promise<void>;
  readonly limits: GathererLimits;

  readonly #socket: Duplex;
  readonly #parts: ClientParts;
  readonly #reader = new FrameReader(Buffer.alloc(0));
  readonly #headerBlock = new HeaderBlockReader(HEADER_LIMITS);
  readonly #decoder = new HpackDecoder({ listSize: HEADER_LIMITS.octets, fields: HEADER_FIELDS });
  readonly #encoder = new HpackEncoder();
  readonly #output: Output;
  readonly #others = new TokenBucket(OTHER_FRAMES);
  readonly #calls = new Map<number, GrpcCall>();
  /** Of calls that wait for the server to speak. */
  readonly #unsent: (() => void)[] = [];
  #nextId = 1;
  #isGreeted = false;
  #isDraining = false;
  #ended: ClientEndReason | undefined;
  #tellReady: (reason: ClientEndReason | undefined) => void = () => undefined;
  #theirWindow = wire.DEFAULT_WINDOW_OCTETS;
  #receiveWindow = wire.DEFAULT_WINDOW_OCTETS;

  constructor(socket: Duplex, parts: ClientParts) {
    this.#socket = socket;
    this.#parts = parts;
    this.limits = parts.limits;
    this.ready = new Promise((resolve) => (this.#tellReady = resolve));
    this.#output = new Output(socket, {
      sent: (frames) => this.#others.give(4 * frames),
      // A request waits with its call, and what a server makes us say besides is counted as its frames come.
      changed: () => undefined,
    });
    this.closed = new Promise((resolve) => {
      socket.once('close', () => {
        this.end('serverGone');
        resolve();
      });
    });
    // 'close' follows, which tells all that matters.
    socket.on('error', () => undefined);
    socket.once('end', () => this.end('serverGone'));
    socket.on('data', this.#read);
    const { windowOctets } = parts;
    const settings = wire.settingsFrame([
      [SETTING.enablePush, 0],
      [SETTING.initialWindowSize, windowOctets],
      [SETTING.maxHeaderListSize, HEADER_LIMITS.octets],
    ]);
    const more = Math.max(1, windowOctets - wire.DEFAULT_WINDOW_OCTETS);
    this.#receiveWindow += more;
    const widen = wire.frameOfNumbers(FRAME.windowUpdate, 0, more);
    // With the calls that are made in this tick.
    this.#output.hold();
    this.#output.send(Buffer.concat([wire.PREFACE, settings, widen]));
    if (socket.destroyed) this.end('serverGone');
  }

  /** Whether a call may be made. */
  get isOpen(): boolean {
    return this.#ended === undefined && !this.#isDraining;
  }

  get isGreeted(): boolean {
    return this.#isGreeted;
  }

  /** Makes a call; gives what cancels it. */
  call(request: GrpcRequest, done: (outcome: GrpcOutcome) => void): () => void {
    const call = new GrpcCall(this.#nextId, this, request.message, done);
    const cancel = (): void => call.over({ kind: 'lost', reason: 'cancelled' }, HTTP2_CODE.cancel);
    if (!this.isOpen) {
      call.over({ kind: 'notTaken', reason: this.#ended ?? 'goaway' });
      return cancel;
    }
    this.#nextId += 2;
    this.#calls.set(call.id, call);
    call.sendWindow = this.#theirWindow;
    call.receiveWindow = this.#parts.windowOctets;
    if (this.#isGreeted || request.isRepeatable === true) this.#send(call, request);
    else this.#unsent.push(() => this.#calls.has(call.id) && this.#send(call, request));
    return cancel;
  }

  endRequest(call: GrpcCall): void {
    this.#output.send(wire.frame(FRAME.data, FLAG.endStream, call.id, Buffer.alloc(0)));
  }

  consumed(call: GrpcCall, octets: number): void {
    call.unreturned += octets;
    if (call.unreturned < this.#parts.windowOctets / 2) return;
    call.receiveWindow += call.unreturned;
    this.#output.send(wire.frameOfNumbers(FRAME.windowUpdate, call.id, call.unreturned));
    call.unreturned = 0;
  }

  over(call: GrpcCall, resetCode?: number): void {
    this.#calls.delete(call.id);
    this.#output.remove(call);
    if (this.#ended !== undefined) return;
    // Of a call that has not begun the server knows nothing.
    if (resetCode !== undefined && call.hasBegun)
      this.#output.send(wire.frameOfNumbers(FRAME.rstStream, call.id, resetCode));
    if (this.#isDraining && this.#calls.size === 0) this.end('closed');
  }

  /** Ends all calls and the connection. The first reason counts. */
  end(reason: ClientEndReason, lingerMs = LINGER_MS): void {
    if (this.#ended !== undefined) return;
    this.#ended = reason;
    const kind = this.#isGreeted ? 'lost' : 'notTaken';
    const calls = [...this.#calls.values()];
    const socket = this.#socket.off('data', this.#read);
    // A server that pushes nothing, and has none of our calls, learns nothing by a GOAWAY.
    const isOver = reason === 'closed' && calls.length === 0;
    if (isOver || reason === 'serverGone' || !socket.writable) {
      socket.destroy();
    } else {
      this.#output.release();
      for (const { id } of calls.filter(({ hasBegun }) => hasBegun))
        socket.write(wire.frameOfNumbers(FRAME.rstStream, id, HTTP2_CODE.cancel));
      const goaway = Buffer.alloc(8);
      goaway.writeUInt32BE(http2CodeOf(reason), 4);
      socket.resume().end(wire.frame(FRAME.goaway, 0, 0, goaway), () => socket.destroy());
      const linger = setTimeout(() => socket.destroy(), lingerMs);
      socket.once('close', () => clearTimeout(linger));
    }
    for (const call of calls) call.over({ kind, reason });
    this.#tellReady(reason);
  }

  readonly #read = (chunk: Buffer): void => {
    try {
      this.#reader.read(chunk, (frame) => {
        this.#take(frame);
        return this.#ended === undefined;
      });
    } catch (error) {
      if (!(error instanceof ConnectionFault)) throw error;
      this.end(this.#isGreeted ? error.reason : 'notHttp2');
    }
  };

  #take(frame: Frame): void {
    const { type, flags, streamId, payload } = frame;
    if (this.#headerBlock.isOpen && type !== FRAME.continuation)
      throw new ConnectionFault('badFrame');
    if (!this.#isGreeted && (type !== FRAME.settings || (flags & FLAG.ack) !== 0))
      throw new ConnectionFault('noSettings');
    switch (type) {
      case FRAME.data:
        this.#takeData(frame);
        return;
      case FRAME.headers:
      case FRAME.continuation: {
        if (type === FRAME.headers) this.#requireStream(streamId);
        const block = this.#headerBlock.take(frame);
        if (block !== undefined) this.#takeHeaders(block);
        return;
      }
      case FRAME.pushPromise:
        throw new ConnectionFault('pushPromise');
    }
    if (!this.#others.take()) throw new ConnectionFault('tooManyIgnoredFrames');
    switch (type) {
      case FRAME.rstStream:
        requireFrame(payload.length === 4, true);
        this.#callOf(streamId)?.takeReset(payload.readUInt32BE(0));
        return;
      case FRAME.settings:
        this.#takeSettings(frame);
        return;
      case FRAME.ping:
        requireFrame(payload.length === 8, streamId === 0);
        if ((flags & FLAG.ack) === 0)
          this.#output.send(wire.frame(FRAME.ping, FLAG.ack, 0, payload));
        return;
      case FRAME.goaway:
        requireFrame(payload.length >= 8, streamId === 0);
        this.#drain(payload.readUInt32BE(0) & 0x7fffffff);
        return;
      case FRAME.windowUpdate:
        this.#takeWindowUpdate(frame);
        return;
      case FRAME.priority:
        requireFrame(payload.length === 5, streamId !== 0);
    }
  }

  #takeData(frame: Frame): void {
    const { streamId, payload } = frame;
    this.#receiveWindow -= payload.length;
    if (this.#receiveWindow < 0) throw new ConnectionFault('windowExceeded');
    const { windowOctets } = this.#parts;
    if (this.#receiveWindow < windowOctets / 2) {
      const taken = windowOctets - this.#receiveWindow;
      this.#receiveWindow = windowOctets;
      this.#output.send(wire.frameOfNumbers(FRAME.windowUpdate, 0, taken));
    }
    const call = this.#callOf(streamId);
    if (call === undefined) {
      this.#countLate();
      return;
    }
    call.receiveWindow -= payload.length;
    if (call.receiveWindow < 0) throw new ConnectionFault('windowExceeded');
    call.takeData(frame);
  }

  #takeHeaders({ streamId, endStream, octets }: HeaderBlock): void {
    const fields = decodeBlock(this.#decoder, octets);
    const call = this.#callOf(streamId);
    if (call === undefined || !endStream) this.#countLate();
    call?.takeHeaders(fields, endStream);
  }

  #takeSettings(frame: Frame): void {
    if (isSettingsAck(frame)) return;
    for (const [id, value] of readSettings(frame.payload)) {
      if (id === SETTING.enablePush && value !== 0) throw new ConnectionFault('badSetting');
      if (id === SETTING.maxFrameSize) this.#output.largestFrame = value;
      if (id !== SETTING.initialWindowSize) continue;
      const change = value - this.#theirWindow;
      this.#theirWindow = value;
      for (const call of this.#calls.values()) this.#widen(call, change);
    }
    this.#output.send(wire.frame(FRAME.settings, FLAG.ack, 0, Buffer.alloc(0)));
    if (this.#isGreeted) return;
    this.#isGreeted = true;
    for (const send of this.#unsent.splice(0)) send();
    this.#tellReady(undefined);
  }

  #takeWindowUpdate({ streamId, payload }: Frame): void {
    const octets = readWindowStep(payload);
    if (streamId === 0) {
      this.#output.widen(octets);
      return;
    }
    const call = this.#callOf(streamId);
    if (call !== undefined) this.#widen(call, octets);
  }

  #widen(call: GrpcCall, octets: number): void {
    call.sendWindow += octets;
    if (call.sendWindow > wire.LARGEST_WINDOW_OCTETS) throw new ConnectionFault('windowExceeded');
    if (call.hasBegun) this.#output.add(call);
  }

  /** The server takes no more calls than it has. */
  #drain(lastId: number): void {
    this.#isDraining = true;
    for (const call of [...this.#calls.values()])
      if (call.id > lastId) call.over({ kind: 'notTaken', reason: 'goaway' });
    if (this.#calls.size === 0) this.end('closed');
  }

  #send(call: GrpcCall, { path, headers }: GrpcRequest): void {
    call.hasBegun = true;
    const fields = answerFields({
      ':method': 'POST',
      ':scheme': 'http',
      ':path': path,
      ':authority': 'localhost',
      'content-type': 'application/grpc',
      te: 'trailers',
      ...headers,
    });
    const block = this.#encoder.encode(fields);
    const largest = wire.DEFAULT_FRAME_OCTETS;
    for (let at = 0; at < block.length; at += largest) {
      const type = at === 0 ? FRAME.headers : FRAME.continuation;
      const flags = at + largest < block.length ? 0 : FLAG.endHeaders;
      this.#output.send(wire.frame(type, flags, call.id, block.subarray(at, at + largest)));
    }
    this.#output.add(call);
  }

  /** The call of a frame; undefined when it is over. @throws ConnectionFault */
  #callOf(streamId: number): GrpcCall | undefined {
    this.#requireStream(streamId);
    return this.#calls.get(streamId);
  }

  #requireStream(streamId: number): void {
    if (streamId % 2 === 0) throw new ConnectionFault('badStreamId');
    if (streamId >= this.#nextId) throw new ConnectionFault('frameOnIdleStream');
  }

  #countLate(): void {
    if (!this.#others.take()) throw new ConnectionFault('tooManyIgnoredFrames');
  }
}
