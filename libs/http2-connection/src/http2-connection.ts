/** This is one file, because frames, streams, windows and accounts depend on each other. */
import { TokenBucket } from '@wins/time';
import type { Duplex } from 'node:stream';
import { LIMITS, type Http2Limits } from './connection-limits.js';
import { Deadline } from './deadline.js';
import { ConnectionFault, HTTP2_CODE, http2CodeOf, type EndReason } from './end-reason.js';
import * as wire from './frame.js';
import { FLAG, FRAME, SETTING, type Frame } from './frame.js';
import { FrameReader } from './frame-reader.js';
import { isSettingsAck, readSettings, readWindowStep, requireFrame } from './judge-frame.js';
import { HeaderBlockReader, type HeaderBlock } from './header-block.js';
import { fieldSize } from './hpack/dynamic-table.js';
import { HpackDecoder } from './hpack/hpack-decoder.js';
import { HpackEncoder } from './hpack/hpack-encoder.js';
import { Http2Stream, type AnswerHeaders, type PeerAddress } from './http2-stream.js';
import { answerFields } from './answer-fields.js';
import { MESSAGE_HEADER_OCTETS } from './message-gatherer.js';
import type { OctetAccount, OctetPool } from './octet-pool.js';
import { Output } from './output.js';
import {
  areTrailers,
  contentLengthOf,
  requestHeaders,
  type RequestHeaders,
} from './request-headers.js';
import type { SegmentPool } from './segment-pool.js';
import { frameVerdict, type StreamState } from './stream-states.js';

export interface ConnectionParts {
  readonly peer: PeerAddress;
  readonly limits: Http2Limits;
  readonly inbound: OctetPool;
  readonly outbound: OctetPool;
  readonly segments: SegmentPool;
  readonly answerHeaders: AnswerHeaders;
  readonly hasOneRequest: (path: string) => boolean;
  readonly onGreeted: () => void;
  readonly onStream: (stream: Http2Stream, headers: RequestHeaders) => unknown;
  readonly onEnd: (reason: EndReason) => void;
  readonly onFailure: (error: unknown) => void;
}

/** Number of reset streams to remember: their frames may still be in transit, which is no error. */
const REMEMBERED_RESETS = 1024;
/** Window beyond the largest message, for frame padding. */
const SPARE_WINDOW_OCTETS = 64 * 1024;
const CONNECTION_WINDOW_OCTETS = 1024 * 1024;
const STREAM_WINDOW_OCTETS = LIMITS.messageOctets + MESSAGE_HEADER_OCTETS + SPARE_WINDOW_OCTETS;
/** Estimated memory of a call, here and in grpc-js, besides its headers and messages. */
const STREAM_OCTETS = 2048;

export class Connection {
  readonly closed: Promise<void>;
  readonly peer: PeerAddress;
  readonly limits: Http2Limits;
  readonly segments: SegmentPool;

  readonly #streams = new Map<number, Http2Stream>();
  readonly #resetByUs = new Set<number>();
  #lastId = 0;
  #isGreeted = false;
  #isDraining = false;
  #ended: EndReason | undefined;

  readonly #reader = new FrameReader(wire.PREFACE);
  readonly #headerBlock = new HeaderBlockReader();
  readonly #decoder = new HpackDecoder();
  readonly #encoder = new HpackEncoder();
  readonly #output: Output;

  #theirStreamWindow = wire.DEFAULT_WINDOW_OCTETS;
  #receiveWindow = wire.DEFAULT_WINDOW_OCTETS;
  readonly #inbound: OctetAccount;
  /** Octets of partly received frames and header blocks, and of headers in the HPACK table. */
  #restOctets = 0;
  readonly #outbound: OctetAccount;
  /** Octets of answers that wait in the streams; `#extraOctets` is the part beyond `freeOctetsPerStream`. */
  #waitingOctets = 0;
  #extraOctets = 0;
  readonly #resets = new TokenBucket(LIMITS.resets);
  readonly #pings = new TokenBucket(LIMITS.pings);
  readonly #settings = new TokenBucket(LIMITS.settings);
  readonly #windowUpdates = new TokenBucket(LIMITS.windowUpdates);
  readonly #ignored = new TokenBucket(LIMITS.ignoredFrames);
  readonly #headerOctets = new TokenBucket(LIMITS.headerBlockOctets);
  readonly #handshake: Deadline;
  readonly #settingsAck: Deadline;
  readonly #nextPing: Deadline;
  readonly #pong: Deadline;
  readonly #idle: Deadline;
  #linger: Deadline | undefined;
  #drain: Deadline | undefined;
  /** `performance.now()` at the end of the grace period. */
  #drainUntil = 0;
  /** Last stream id in the first GOAWAY. A later GOAWAY must not contain a higher id. */
  #goawayId: number | undefined;
  readonly #socket: Duplex;
  readonly #parts: ConnectionParts;

  constructor(socket: Duplex, parts: ConnectionParts) {
    this.#socket = socket;
    this.#parts = parts;
    const { limits } = parts;
    this.peer = parts.peer;
    this.limits = limits;
    this.segments = parts.segments;
    this.#inbound = parts.inbound.open(() => this.#end('mostHeld'));
    this.#outbound = parts.outbound.open(() => this.#end('mostHeld'));
    // The awaited frame may already be in unread input; then the client is not late.
    const hasInput = (): boolean => socket.readableLength > 0;
    const expect = (ms: number, late: EndReason): Deadline =>
      new Deadline(ms, () => this.#end(late), hasInput);
    this.#handshake = expect(limits.handshakeMs, 'handshakeTimeout');
    this.#settingsAck = expect(limits.settingsAckMs, 'settingsTimeout');
    this.#nextPing = new Deadline(limits.pingIntervalMs, () => this.#ping());
    this.#pong = expect(limits.pingTimeoutMs, 'pingTimeout');
    this.#idle = new Deadline(limits.idleMs, () => this.#end('idle'));
    this.#output = new Output(socket, {
      sent: (frames) => {
        this.#pings.give(frames);
        this.#windowUpdates.give(4 * frames);
      },
      changed: () => this.#judgeWaiting(),
    });
    this.closed = new Promise((resolve) => {
      // No further 'close' comes.
      if (socket.closed) resolve();
      socket.once('close', () => {
        this.#end('clientGone');
        this.#linger?.stop();
        resolve();
      });
    });
    // The 'close' event that follows ends the connection.
    socket.on('error', () => undefined);
    socket.once('end', () => this.#end('clientGone'));
    socket.on('data', this.#read);
    this.#handshake.start();
    if (socket.destroyed) this.#end('clientGone');
  }

  close(graceMs: number): Promise<void> {
    if (this.#ended !== undefined || this.#drain !== undefined) return this.closed;
    this.#isDraining = true;
    this.#drain = new Deadline(graceMs, () => this.#end('closed'));
    this.#drainUntil = performance.now() + graceMs;
    if (graceMs === 0 || this.#streams.size === 0) {
      this.#end('closed');
    } else {
      this.#sendGoaway(HTTP2_CODE.noError, '');
      this.#drain.start();
    }
    return this.closed;
  }

  sendHeaders(stream: Http2Stream, headers: AnswerHeaders, endStream: boolean): void {
    const isFirst = headers[':status'] !== undefined;
    const all = isFirst ? { ...headers, ...this.#parts.answerHeaders } : headers;
    const block = this.#encoder.encode(answerFields(all));
    this.#output.send(wire.headersFrames(stream.id, block, endStream));
  }

  wantsToSend(stream: Http2Stream): void {
    this.#output.add(stream);
  }

  waits(octets: number, extra: number): void {
    this.#waitingOctets += octets;
    this.#extraOctets += extra;
    if (octets > 0) this.#judgeWaiting();
  }

  holds(octets: number): void {
    const held = this.#inbound.held + octets;
    this.#inbound.set(held);
    if (held > LIMITS.unfinishedOctets) this.#end('tooMuchUnfinished');
  }

  consumed(stream: Http2Stream, octets: number): void {
    stream.unreturned += octets;
    if (stream.state !== 'open' || stream.unreturned < STREAM_WINDOW_OCTETS / 2) return;
    stream.receiveWindow += stream.unreturned;
    this.#output.send(wire.frameOfNumbers(FRAME.windowUpdate, stream.id, stream.unreturned));
    stream.unreturned = 0;
  }

  answered(stream: Http2Stream): void {
    // The rest of the request is not needed.
    if (stream.state === 'open') this.#sendReset(stream.id, HTTP2_CODE.noError);
    this.#forget(stream, HTTP2_CODE.noError, false);
  }

  reset(stream: Http2Stream, code: number): void {
    if (this.#ended === undefined) this.#sendReset(stream.id, code);
    this.#forget(stream, code, true);
  }

  resetFor(stream: Http2Stream, code: number): void {
    spend(this.#resets, 'tooManyResets');
    this.reset(stream, code);
  }

  /** Only the first reason counts. Frees all memory of the connection at once, whatever happens to the socket. */
  #end(reason: EndReason): void {
    if (this.#ended !== undefined) return;
    this.#ended = reason;
    for (const deadline of [this.#handshake, this.#settingsAck, this.#nextPing]) deadline.stop();
    for (const deadline of [this.#pong, this.#idle, this.#drain]) deadline?.stop();
    const streams = [...this.#streams.values()];
    this.#streams.clear();
    for (const stream of streams) stream.over(HTTP2_CODE.cancel, true);
    this.#inbound.release();
    this.#outbound.release();
    const socket = this.#socket;
    socket.off('data', this.#read);
    // A client that has said goodbye may still read its last answer.
    const isRead = reason === 'clientGone' && socket.writableLength === 0;
    if (isRead || !socket.writable) {
      socket.destroy();
    } else {
      if (reason !== 'notHttp2') this.#sendGoaway(http2CodeOf(reason), reason);
      // Read and drop further input, because closing a socket with unread input could lose the last frames. If the client
      // does not close, `#linger` disconnects it.
      socket.once('end', () => socket.destroy()).resume();
      socket.end();
      // Answers that are still in the socket have the rest of the grace period.
      const graceMs = reason === 'closed' ? this.#drainUntil - performance.now() : 0;
      const lingerMs = Math.max(this.limits.lingerMs, graceMs);
      this.#linger = new Deadline(lingerMs, () => socket.destroy());
      this.#linger.start();
    }
    this.#parts.onEnd(reason);
  }

  readonly #read = (chunk: Buffer): void => {
    if (this.#ended !== undefined) return;
    try {
      this.#reader.read(chunk, (frame) => {
        this.#take(frame);
        return this.#ended === undefined;
      });
      this.#countRest();
    } catch (error) {
      if (error instanceof ConnectionFault) {
        this.#end(error.reason);
      } else {
        this.#fail(error);
      }
    }
  };

  #fail(error: unknown): void {
    this.#end('failed');
    this.#parts.onFailure(error);
  }

  #countRest(): void {
    const { heldOctets } = this.#reader;
    const octets = heldOctets + this.#headerBlock.heldOctets + this.#decoder.heldOctets;
    if (octets === this.#restOctets) return;
    const more = octets - this.#restOctets;
    this.#restOctets = octets;
    this.holds(more);
  }

  #take(frame: Frame): void {
    const { type, flags, streamId, payload } = frame;
    if (this.#headerBlock.isOpen && type !== FRAME.continuation) {
      throw new ConnectionFault('badFrame');
    }
    if (!this.#isGreeted) this.#greet(frame);
    switch (type) {
      case FRAME.data:
        this.#takeData(frame);
        return;
      case FRAME.headers:
      case FRAME.continuation: {
        if (type === FRAME.headers && streamId % 2 === 0) throw new ConnectionFault('badStreamId');
        const block = this.#headerBlock.take(frame);
        if (block !== undefined) this.#takeHeaders(block);
        return;
      }
      case FRAME.rstStream:
        this.#takeReset(frame);
        return;
      case FRAME.settings:
        this.#takeSettings(frame);
        return;
      case FRAME.pushPromise:
        throw new ConnectionFault('pushPromise');
      case FRAME.ping:
        requireFrame(payload.length === 8, streamId === 0);
        spend(this.#pings, 'tooManyPings');
        if ((flags & FLAG.ack) === 0) {
          this.#output.send(wire.frame(FRAME.ping, FLAG.ack, 0, payload));
        } else {
          this.#pong.stop();
          if (this.#ended === undefined) this.#nextPing.continue();
        }
        return;
      case FRAME.goaway:
        requireFrame(payload.length >= 8, streamId === 0);
        spend(this.#ignored, 'tooManyIgnoredFrames');
        this.#isDraining = true;
        if (this.#streams.size === 0) this.#end('clientGone');
        return;
      case FRAME.windowUpdate:
        this.#takeWindowUpdate(frame);
        return;
      case FRAME.priority:
        requireFrame(payload.length === 5, streamId !== 0);
        spend(this.#ignored, 'tooManyIgnoredFrames');
        return;
      default:
        spend(this.#ignored, 'tooManyIgnoredFrames');
    }
  }

  /** Requires SETTINGS as the first frame, and replies with ours. */
  #greet({ type, flags }: Frame): void {
    if (type !== FRAME.settings || (flags & FLAG.ack) !== 0) {
      throw new ConnectionFault('noSettings');
    }
    this.#isGreeted = true;
    this.#handshake.stop();
    const ours = wire.settingsFrame([
      [SETTING.maxConcurrentStreams, LIMITS.streams],
      [SETTING.initialWindowSize, STREAM_WINDOW_OCTETS],
      [SETTING.maxHeaderListSize, LIMITS.headerOctets],
    ]);
    const more = CONNECTION_WINDOW_OCTETS - wire.DEFAULT_WINDOW_OCTETS;
    this.#receiveWindow += more;
    this.#output.send(Buffer.concat([ours, wire.frameOfNumbers(FRAME.windowUpdate, 0, more)]));
    this.#settingsAck.start();
    this.#nextPing.start();
    this.#idle.start();
    this.#parts.onGreeted();
  }

  #takeData(frame: Frame): void {
    const { streamId, payload } = frame;
    if (streamId === 0) throw new ConnectionFault('badStreamId');
    this.#receiveWindow -= payload.length;
    if (this.#receiveWindow < 0) throw new ConnectionFault('windowExceeded');
    if (this.#receiveWindow < CONNECTION_WINDOW_OCTETS / 2) {
      const taken = CONNECTION_WINDOW_OCTETS - this.#receiveWindow;
      this.#receiveWindow = CONNECTION_WINDOW_OCTETS;
      this.#output.send(wire.frameOfNumbers(FRAME.windowUpdate, 0, taken));
    }
    const stream = this.#judge(frame);
    if (stream === undefined) return;
    stream.receiveWindow -= payload.length;
    if (stream.receiveWindow < 0) this.resetFor(stream, HTTP2_CODE.flowControlError);
    else stream.receive(frame);
  }

  /** Returns undefined for a frame that opens a stream or comes late. @throws ConnectionFault */
  #judge({ type, streamId }: Pick<Frame, 'type' | 'streamId'>): Http2Stream | undefined {
    const verdict = frameVerdict(this.#stateOf(streamId), type);
    if (verdict === 'pass') return this.#streams.get(streamId);
    if (verdict === 'late') spend(this.#ignored, 'tooManyIgnoredFrames');
    else if (verdict !== 'open') throw new ConnectionFault(verdict);
    return undefined;
  }

  #stateOf(streamId: number): StreamState {
    const stream = this.#streams.get(streamId);
    if (stream !== undefined) return stream.state;
    if (streamId > this.#lastId) return 'idle';
    return this.#resetByUs.has(streamId) ? 'resetByUs' : 'closed';
  }

  #takeHeaders({ streamId, endStream, octets }: HeaderBlock): void {
    if (!this.#headerOctets.take(octets.length)) throw new ConnectionFault('tooManyHeaderOctets');
    const fields = this.#decoder.decode(octets);
    const isNew = this.#stateOf(streamId) === 'idle';
    const stream = this.#judge({ type: FRAME.headers, streamId });
    if (stream !== undefined) {
      if (endStream && areTrailers(fields)) stream.endRequest();
      else this.resetFor(stream, HTTP2_CODE.protocolError);
    }
    if (!isNew) return;
    this.#lastId = streamId;
    if (this.#isDraining || this.#streams.size >= LIMITS.streams) {
      spend(this.#ignored, 'tooManyIgnoredFrames');
      this.#sendReset(streamId, HTTP2_CODE.refusedStream);
      return;
    }
    const headers = requestHeaders(fields);
    if (headers === undefined) {
      spend(this.#ignored, 'tooManyIgnoredFrames');
      this.#sendReset(streamId, HTTP2_CODE.protocolError);
      return;
    }
    const size = STREAM_OCTETS + fields.reduce((sum, field) => sum + fieldSize(field), 0);
    this.#open(streamId, headers, { size, endStream });
  }

  #open(
    id: number,
    headers: RequestHeaders,
    { size, endStream }: { readonly size: number; readonly endStream: boolean },
  ): void {
    const windows = { receive: STREAM_WINDOW_OCTETS, send: this.#theirStreamWindow };
    const stream = new Http2Stream(id, this, windows, {
      hasOneRequest: this.#parts.hasOneRequest(headers[':path'] ?? ''),
      headerOctets: size,
      contentLength: contentLengthOf(headers),
    });
    this.#streams.set(id, stream);
    this.#idle.stop();
    stream.begin();
    if (endStream && !stream.destroyed) stream.endRequest();
    if (stream.destroyed) return;
    const handling = this.#parts.onStream(stream, headers);
    if (typeof handling === 'object' && handling !== null)
      Promise.resolve(handling).catch((error: unknown) => {
        // A stream fails its reader when it is reset, or when its connection ends.
        if (!stream.destroyed) this.#fail(error);
      });
  }

  #takeReset(frame: Frame): void {
    const { streamId, payload } = frame;
    requireFrame(payload.length === 4, streamId !== 0);
    spend(this.#resets, 'tooManyResets');
    const stream = this.#judge(frame);
    if (stream !== undefined) this.#forget(stream, payload.readUInt32BE(0), true);
  }

  #takeSettings(frame: Frame): void {
    const isAck = isSettingsAck(frame);
    spend(this.#settings, 'tooManySettings');
    if (isAck) {
      this.#settingsAck.stop();
      return;
    }
    for (const [id, value] of readSettings(frame.payload)) this.#applySetting(id, value);
    this.#output.send(wire.frame(FRAME.settings, FLAG.ack, 0, Buffer.alloc(0)));
  }

  #applySetting(id: number, value: number): void {
    if (id === SETTING.maxFrameSize) this.#output.largestFrame = value;
    if (id !== SETTING.initialWindowSize) return;
    const change = value - this.#theirStreamWindow;
    this.#theirStreamWindow = value;
    for (const stream of this.#streams.values()) this.#widen(stream, change);
  }

  #widen(stream: Http2Stream, octets: number): void {
    stream.sendWindow += octets;
    if (stream.sendWindow > wire.LARGEST_WINDOW_OCTETS) throw new ConnectionFault('windowExceeded');
    this.#output.add(stream);
  }

  #takeWindowUpdate(frame: Frame): void {
    const { streamId, payload } = frame;
    spend(this.#windowUpdates, 'tooManyWindowUpdates');
    const octets = readWindowStep(payload);
    if (streamId === 0) {
      this.#output.widen(octets);
      return;
    }
    const stream = this.#judge(frame);
    if (stream === undefined) return;
    if (stream.sendWindow + octets > wire.LARGEST_WINDOW_OCTETS) {
      this.resetFor(stream, HTTP2_CODE.flowControlError);
    } else {
      this.#widen(stream, octets);
    }
  }

  #ping(): void {
    this.#nextPing.stop();
    this.#pong.start();
    this.#output.send(wire.frame(FRAME.ping, 0, 0, Buffer.alloc(8)));
  }

  #sendReset(streamId: number, code: number): void {
    this.#resetByUs.add(streamId);
    if (this.#resetByUs.size > REMEMBERED_RESETS) {
      const [oldest] = this.#resetByUs;
      if (oldest !== undefined) this.#resetByUs.delete(oldest);
    }
    this.#output.send(wire.frameOfNumbers(FRAME.rstStream, streamId, code));
  }

  #sendGoaway(code: number, text: string): void {
    const head = Buffer.alloc(8);
    this.#goawayId ??= this.#lastId;
    head.writeUInt32BE(this.#goawayId);
    head.writeUInt32BE(code, 4);
    const payload = Buffer.concat([head, Buffer.from(text, 'latin1')]);
    if (this.#socket.writable) this.#socket.write(wire.frame(FRAME.goaway, 0, 0, payload));
  }

  #forget(stream: Http2Stream, code: number, aborted: boolean): void {
    this.#streams.delete(stream.id);
    this.#output.remove(stream);
    stream.over(code, aborted);
    if (this.#streams.size > 0 || this.#ended !== undefined) return;
    if (this.#isDraining) this.#end('closed');
    else this.#idle.start();
  }

  /** Disconnects a client that does not read, because the output for it stays in our memory. */
  #judgeWaiting(): void {
    if (this.#ended !== undefined) return;
    const inSocket = this.#socket.writableLength;
    this.#outbound.set(this.#waitingOctets + inSocket);
    if (this.#extraOctets > LIMITS.waitingOctets || inSocket > LIMITS.socketOctets)
      this.#end('notReading');
  }
}

function spend(bucket: TokenBucket, reason: EndReason): void {
  if (!bucket.take()) throw new ConnectionFault(reason);
}
