// Longer than most files because both directions of a stream share its state on the wire.
import { TunnelError } from '../tunnel-error.js';
import { escapeText } from '@wins/base';
import { Duplex, type Writable } from 'node:stream';
import { Fifo, exactBuffer } from './fifo.js';
import { ReceiveGate, SendGate, type SharedBuffer } from './flow-control.js';
import { OutgoingBytes, type WaitingBytes } from './outgoing-bytes.js';
import type { OutgoingMessage, RoundMember } from './send-round.js';
import type { Silent } from './silence-order.js';
import type { SessionSettings } from './session-settings.js';
import type { TunnelStream, TunnelTraffic } from './tunnel-stream.js';
import type { MessageEncoder } from '../wire/encode.js';
import { PROTOCOL_LIMITS } from '../wire/limits.js';
import { CLEAN_END } from '../wire/message.js';
import { readRefusal, writeFailure } from '../wire/refusal.js';
import type { Int64 } from '../wire/varint.js';

type StreamEnd =
  | { readonly reason: 'finished' }
  | { readonly reason: 'peer-closed' }
  | { readonly reason: 'failed'; readonly error: TunnelError };

/**
 * State on the wire. `told` is true once the half-close is sent. The half-close is not sent to older peers: they support
 * only the Error "EOF", which would also end the answer.
 */
export type StreamState =
  | { readonly kind: 'open' }
  | { readonly kind: 'local-ended'; readonly told: boolean }
  | { readonly kind: 'remote-ended' }
  | { readonly kind: 'closed'; readonly end: StreamEnd };

const LEGAL_MOVES: Record<StreamState['kind'], ReadonlySet<StreamState['kind']>> = {
  open: new Set(['local-ended', 'remote-ended', 'closed'] as const),
  'local-ended': new Set(['local-ended', 'closed'] as const),
  'remote-ended': new Set(['closed'] as const),
  closed: new Set<StreamState['kind']>(),
};

/** True when the state may change from `from` to `to`. A closed stream stays closed, and so keeps the first cause of its end. */
export function mayMove(from: StreamState['kind'], to: StreamState['kind']): boolean {
  return LEGAL_MOVES[from].has(to);
}

export interface SessionLink extends WaitingBytes {
  readonly encoder: MessageEncoder;
  readonly shared: SharedBuffer;
  readonly traffic: TunnelTraffic;
  /** True when the peer sent Hello. Such a peer supports half-close, and repeats its Pause at every tick until it resumes the stream. */
  readonly peerExtended: boolean;
  /** Applies when the local side ends and the peer lacks half-close. True: the stream waits before it ends. False: it ends at once. */
  readonly holdsLocalEnd: boolean;
  readonly settings: SessionSettings;
  /** Called when a byte was sent, received or read. */
  bytesMoved(stream: SessionStream): void;
  /** Called when a stream holds more than its share, and again as the excess grows. */
  readerBehind(stream: SessionStream): void;
  readerCaughtUp(stream: SessionStream): void;
  /** Calls `then` after `delayMs` milliseconds, even if the session has ended by then. */
  later(delayMs: number, then: () => void): void;
  control(message: Buffer): void;
  ready(stream: SessionStream): void;
  release(stream: SessionStream): void;
  gone(stream: SessionStream): void;
}

const READ_AHEAD_BYTES = 64 * 1024;
/**
 * Small, because every stalled stream holds this much. A larger chunk makes `write` return false, but {@link joinSocket}
 * pauses the socket only if the chunk was not sent at once.
 */
const WRITE_AHEAD_BYTES = 16 * 1024;
const CHUNK_OVERHEAD_BYTES = 256;
/**
 * Number of unsent bytes up to which a stream lets its writer continue, if the written bytes need no copy. A message to a
 * peer with extensions has space for these bytes, and for the bytes that the socket's next read returns.
 */
const SEND_AHEAD_BYTES = 64 * 1024;
/** A shorter chunk is copied into one buffer with the message's header and other waiting chunks. */
const LEAST_VIEW_BYTES = 4 * 1024;
/** Delay between the last bytes of an answer and the end of its stream. */
const HELD_AFTER_ANSWER_MS = 1_000;
/**
 * Maximum ratio of a buffer's length to the length of a received view of that buffer. Above this ratio, the view is copied
 * even if its reader takes it at once, because a view keeps its whole buffer in memory.
 */
const MOST_PINNED = 4;

/**
 * A {@link TunnelStream} with the methods that only its session may call. This class is long, because reading, writing and ending change one state.
 */
export class SessionStream extends Duplex implements TunnelStream, RoundMember, Silent {
  queued = false;
  longerSilent: Silent | undefined;
  shorterSilent: Silent | undefined;
  bytesRead = 0;
  bytesWritten = 0;
  /** True when the writer never changes written buffers, so that the stream may send them later without a copy. */
  keepsWritten = false;
  onTick: (() => void) | undefined;
  /** Receives this stream's data: all parts of a message in one write, unless earlier data waits. */
  sink: Writable | undefined;

  #state: StreamState = { kind: 'open' };
  readonly #link: SessionLink;
  readonly #outgoing: OutgoingBytes;
  readonly #sendGate = new SendGate();
  readonly #held = new Fifo<Buffer>();
  readonly #receiveGate: ReceiveGate;
  #hungry = false;
  #remoteDone = false;
  /** Ticks since the last byte was sent, received or read. */
  #idleTicks = 0;
  #failure: TunnelError | undefined;

  constructor(
    readonly id: Int64,
    /** Unique number in the session, because peers may reuse an `id`. */
    readonly number: number,
    link: SessionLink,
    readonly bornTick: number,
    readonly address?: string,
  ) {
    super({ readableHighWaterMark: READ_AHEAD_BYTES, writableHighWaterMark: WRITE_AHEAD_BYTES });
    this.#link = link;
    this.#outgoing = new OutgoingBytes(link);
    this.#receiveGate = new ReceiveGate(link.shared);
    this.on('end', destroyIfPeerClosed);
  }

  get state(): StreamState {
    return this.#state;
  }

  get sendable(): boolean {
    return this.#outgoing.length > 0 && this.#sendGate.open && this.#state.kind !== 'closed';
  }

  get waitingBytes(): number {
    return this.#outgoing.length;
  }

  get heldBytes(): number {
    return this.#receiveGate.heldBytes;
  }

  /** Time since the last byte was sent, received or read, rounded down to ticks. */
  get silentMs(): number {
    return Math.max(0, this.#idleTicks - 1) * this.#link.settings.tickMs;
  }

  // Sending: a write waits in #outgoing until the session's round reaches this stream.

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#offer([chunk], done);
  }

  override _writev(entries: { chunk: Buffer }[], done: () => void): void {
    this.#offer(
      entries.map((entry) => entry.chunk),
      done,
    );
  }

  override _final(done: () => void): void {
    this.#outgoing.put([], 0, () => {
      this.#endLocally();
      done();
    });
    this.#outgoing.settle();
  }

  /** Returns the next Data message. Takes long chunks without a copy if the writer permits this; otherwise copies as many bytes as fit. */
  takeMessage(): OutgoingMessage {
    const { encoder, peerExtended } = this.#link;
    const { sentDataBytes, sentToOwnBytes } = PROTOCOL_LIMITS;
    const most = peerExtended ? sentToOwnBytes : sentDataBytes;
    const waited = this.#outgoing.length;
    const rest = this.keepsWritten ? this.#outgoing.takeViews(most, LEAST_VIEW_BYTES) : [];
    const message =
      rest.length > 0 ? encoder.dataHeader(this.id) : this.#copyMessage(Math.min(waited, most));
    const bodyBytes = waited - this.#outgoing.length;
    this.#bytesMoved();
    this.bytesWritten += bodyBytes;
    this.#link.traffic.sentBytes += bodyBytes;
    return { bodyBytes, message, rest };
  }

  messageSent(): void {
    this.#sendGate.sent();
    this.#outgoing.settle();
  }

  // Receiving.

  override _read(): void {
    this.#hungry = true;
    this.#deliver();
  }

  override read(size?: number): unknown {
    const chunk: unknown = super.read(size);
    if (chunk !== null) this.#bytesMoved();
    if (this.#held.length > 0) this.#deliver();
    this.#failWhenDrained();
    return chunk;
  }

  acceptData(...parts: readonly Buffer[]): void {
    if (this.#state.kind === 'remote-ended') {
      this.destroy(
        new TunnelError('streamReset', 'the peer sent data after its end', { streamId: this.id }),
      );
      return;
    }
    this.#bytesMoved();
    this.#receiveGate.heard();
    const sink = parts.length > 1 && this.sink?.writableLength === 0 ? this.sink : undefined;
    sink?.cork();
    this.#acceptParts(parts);
    sink?.uncork();
    if (sink === undefined || sink.writableLength === 0 || !sink.writableNeedDrain) return;
    this.pause();
    sink.once('drain', () => this.resume());
  }

  #acceptParts(parts: readonly Buffer[]): void {
    for (const part of parts) {
      this.bytesRead += part.length;
      this.#link.traffic.receivedBytes += part.length;
      for (let at = 0; at < part.length; at += READ_AHEAD_BYTES) {
        const whole = part.length <= READ_AHEAD_BYTES;
        this.#acceptPiece(whole ? part : part.subarray(at, at + READ_AHEAD_BYTES));
        if (this.destroyed) return;
      }
    }
  }

  /** Called when the peer sends no more data but still reads. */
  acceptEnd(): void {
    if (this.#state.kind === 'open') this.#move({ kind: 'remote-ended' });
    else if (this.#state.kind !== 'local-ended') return;
    else if (this.#state.told) this.#close({ reason: 'finished' });
    else this.#endAsAWhole();
    this.#finishReading();
  }

  /** Called when the peer ended the whole stream, cleanly or not. */
  acceptError(text: string): void {
    if (text === CLEAN_END) {
      this.#close({ reason: 'peer-closed' });
      this.#finishReading();
      this.destroyIfPeerClosed();
      return;
    }
    const peerText = escapeText(text);
    const refusal = readRefusal(text);
    const { code, rule } = refusal ?? { code: 'streamReset' };
    const found =
      refusal === undefined
        ? 'the peer reset the stream'
        : 'cannot open the stream: the peer answered';
    const fields = { streamId: this.id, rule, peerText };
    this.failAfterHeld(new TunnelError(code, `${found}: ${peerText}`, fields));
  }

  /** Fails the stream after its reader has read all received data. Does not notify the peer, because the peer already knows. */
  failAfterHeld(error: TunnelError): void {
    this.#failure = error;
    this.#close({ reason: 'failed', error });
    this.#failWhenDrained();
  }

  acceptPause(): void {
    this.#sendGate.pause();
  }

  acceptResume(): void {
    this.#sendGate.resume();
    this.#link.ready(this);
  }

  /** Resets the stream to admit another one of a client that does not report ends. */
  endForAnother(): void {
    const message = `replaced after ${this.silentMs / 1000} s without data, because its client reports no ends`;
    this.destroy(new TunnelError('streamIdle', message, { streamId: this.id }));
  }

  /** Called when the reader has stopped and the peer does not support a pause of a single stream. */
  giveUp(): void {
    this.#readerStopped(this.#link.settings.stoppedReaderMs);
  }

  abandon(error: TunnelError): void {
    this.#close({ reason: 'failed', error });
    this.destroy(error);
  }

  peerBecameExtended(): void {
    if (this.#state.kind === 'local-ended' && !this.#state.told) this.#tellEnd();
  }

  /**
   * Ends the whole stream if its local side has ended and the peer does not know this yet. A peer without half-close learns
   * of the end only in this way.
   */
  tellHeldEnd(): void {
    if (this.#state.kind === 'local-ended' && !this.#state.told) this.#endAsAWhole();
  }

  /** Called at each tick for every stream that is not destroyed. */
  tick(): void {
    this.onTick?.();
    this.#idleTicks += 1;
    const limitMs = this.#idleLimitMs;
    if (this.#idleTicks * this.#link.settings.tickMs >= limitMs) {
      this.#endIdle(limitMs);
      return;
    }
    if (this.#state.kind === 'closed') return;
    const { encoder, peerExtended } = this.#link;
    const repeat = this.#receiveGate.tick();
    if (repeat === 'pause') this.#link.control(encoder.pause(this.id));
    if (repeat === 'resume') this.#link.control(encoder.resume(this.id));
    if (this.#sendGate.tick(peerExtended)) this.#link.ready(this);
    if (this.#state.kind === 'local-ended' && this.#state.told)
      this.#link.control(encoder.end(this.id));
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (this.#state.kind !== 'closed') {
      const known =
        error instanceof TunnelError
          ? error
          : new TunnelError('streamReset', 'connection reset', { streamId: this.id, cause: error });
      this.#link.control(this.#link.encoder.error(this.id, writeFailure(known)));
      this.#close({ reason: 'failed', error: known });
    }
    this.#held.clear();
    this.#receiveGate.dispose();
    this.#outgoing.discard();
    this.#link.gone(this);
    done(error);
  }

  #bytesMoved(): void {
    this.#idleTicks = 0;
    this.#link.bytesMoved(this);
  }

  get #idleLimitMs(): number {
    const { peerExtended, holdsLocalEnd, settings } = this.#link;
    switch (this.#state.kind) {
      case 'open':
        // Only a server limits the idle time of open streams, and only for a client without extensions.
        // Such a client cannot report the end of its data.
        // `holdsLocalEnd` is true only on the client's side.
        return peerExtended || holdsLocalEnd ? Infinity : settings.untoldIdleMs;
      case 'local-ended':
        // If our reader has unread data, the peer may be paused and have more data to send.
        // Such a stream therefore gets the time-out of a half-closed stream.
        return this.#state.told || this.#hasUnread
          ? settings.halfClosedIdleMs
          : settings.heldEndIdleMs;
      case 'remote-ended':
        return settings.halfClosedIdleMs;
      case 'closed':
        return this.#state.end.reason === 'failed'
          ? settings.stoppedReaderMs
          : settings.halfClosedIdleMs;
    }
  }

  get #hasUnread(): boolean {
    return this.heldBytes + this.readableLength > 0;
  }

  #endIdle(limitMs: number): void {
    if (this.#state.kind === 'closed' || this.#hasUnread) this.#readerStopped(limitMs);
    else if (this.#state.kind === 'open') {
      const message = `no data for ${limitMs / 1000} s from a client that does not report its end`;
      this.destroy(new TunnelError('streamIdle', message, { streamId: this.id }));
    } else {
      this.#endAsAWhole();
      this.destroyIfPeerClosed();
    }
  }

  #readerStopped(limitMs: number): void {
    const message = `the reader read nothing for ${limitMs / 1000} s`;
    const fields = { streamId: this.id, cause: this.#failure };
    this.destroy(new TunnelError('readerStopped', message, fields));
  }

  #copyMessage(bodyBytes: number): Buffer {
    const { message, bodyOffset } = this.#link.encoder.data(this.id, bodyBytes);
    this.#outgoing.take(message, bodyOffset);
    return message;
  }

  #offer(chunks: readonly Buffer[], done: () => void): void {
    this.#outgoing.put(chunks, this.#maySendAhead(chunks) ? SEND_AHEAD_BYTES : 0, done);
    // After a stream is closed, its peer reads no more data.
    if (this.#state.kind === 'closed') this.#outgoing.discard();
    else this.#link.ready(this);
    this.#outgoing.settle();
  }

  /**
   * True if the writer may continue before these chunks are sent. The writer of a short chunk must wait, because
   * a short chunk costs more memory than its bytes.
   */
  #maySendAhead(chunks: readonly Buffer[]): boolean {
    const { waitingBytes, shared } = this.#link;
    return (
      this.keepsWritten &&
      waitingBytes < shared.limits.sendAheadBytes &&
      chunks.every(({ length }) => length >= LEAST_VIEW_BYTES)
    );
  }

  #endLocally(): void {
    if (this.#state.kind === 'remote-ended') {
      this.#link.control(this.#link.encoder.end(this.id));
      this.#close({ reason: 'finished' });
      return;
    }
    if (this.#state.kind !== 'open') return;
    this.#idleTicks = 0;
    this.#move({ kind: 'local-ended', told: false });
    if (this.#link.peerExtended) this.#tellEnd();
    else if (!this.#link.holdsLocalEnd) this.#endAsAWhole();
    else if (this.bytesRead > 0) this.#tellEndAfterAnswer();
  }

  /**
   * Ends the whole stream once the peer has sent nothing for a second. Usually the local program has closed its socket,
   * but TCP shows only that it sends no more.
   */
  #tellEndAfterAnswer(): void {
    const { bytesRead } = this;
    this.#link.later(HELD_AFTER_ANSWER_MS, () => {
      if (this.#state.kind !== 'local-ended' || this.#state.told) return;
      // If the peer was ever paused, more data may follow, so the idle time-out decides.
      if (!this.#receiveGate.neverPaused) return;
      if (this.bytesRead === bytesRead) this.#endAsAWhole();
      else this.#tellEndAfterAnswer();
    });
  }

  #tellEnd(): void {
    this.#link.control(this.#link.encoder.end(this.id));
    this.#move({ kind: 'local-ended', told: true });
  }

  #endAsAWhole(): void {
    this.#link.control(this.#link.encoder.error(this.id, CLEAN_END));
    this.#close({ reason: 'finished' });
    this.#finishReading();
  }

  #acceptPiece(view: Buffer): void {
    const small = view.length * MOST_PINNED < view.buffer.byteLength;
    const waits = !this.#hungry || this.#held.length > 0 || this.readableLength > 0;
    const piece = small || waits ? exactBuffer(view) : view;
    if (!waits) {
      this.#hungry = this.push(piece);
      return;
    }
    this.#held.push(piece);
    const verdict = this.#receiveGate.hold(piece.length + CHUNK_OVERHEAD_BYTES);
    if (verdict === 'pause') {
      this.#link.traffic.pauses += 1;
      this.#link.control(this.#link.encoder.pause(this.id));
      this.#link.readerBehind(this);
    }
    if (verdict === 'overflow') {
      const message = `the peer sent ${this.#receiveGate.heldBytes} unread bytes although it was asked to pause`;
      this.destroy(new TunnelError('receiveOverflow', message, { streamId: this.id }));
    }
  }

  #deliver(): void {
    while (this.#hungry) {
      const pieces = this.#takeHeld();
      const [first] = pieces;
      if (first === undefined) break;
      const joined = pieces.length === 1 ? first : Buffer.concat(pieces);
      const heldBytes = joined.length + pieces.length * CHUNK_OVERHEAD_BYTES;
      const verdict = this.#receiveGate.release(heldBytes);
      this.#hungry = this.push(joined);
      if (verdict !== 'resume') continue;
      this.#link.readerCaughtUp(this);
      if (this.#state.kind !== 'closed') this.#link.control(this.#link.encoder.resume(this.id));
    }
    this.#endWhenDelivered();
  }

  /** Joins short pieces, because many of them would take much more memory than their bytes. */
  #takeHeld(): Buffer[] {
    const pieces: Buffer[] = [];
    for (let bytes = 0; bytes < LEAST_VIEW_BYTES;) {
      const piece = this.#held.shift();
      if (piece === undefined) break;
      pieces.push(piece);
      bytes += piece.length;
    }
    return pieces;
  }

  #finishReading(): void {
    this.#remoteDone = true;
    this.#endWhenDelivered();
  }

  #endWhenDelivered(): void {
    if (this.#remoteDone && this.#held.length === 0 && !this.destroyed) this.push(null);
  }

  #failWhenDrained(): void {
    if (this.#failure !== undefined && this.#held.length === 0 && this.readableLength === 0)
      this.destroy(this.#failure);
  }

  /** Destroys a closed stream once it is read to the end. A closed stream discards all writes anyway. */
  destroyIfPeerClosed(): void {
    if (this.#state.kind === 'closed' && this.readableEnded) this.destroy();
  }

  #close(end: StreamEnd): void {
    if (!this.#move({ kind: 'closed', end })) return;
    this.#link.release(this);
    this.#outgoing.discard();
  }

  #move(next: StreamState): boolean {
    if (!mayMove(this.#state.kind, next.kind)) return false;
    this.#state = next;
    return true;
  }
}

/** Shared, because a closure for each of many short streams costs memory. */
function destroyIfPeerClosed(this: SessionStream): void {
  this.destroyIfPeerClosed();
}
