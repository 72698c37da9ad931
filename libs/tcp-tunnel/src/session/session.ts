// Longer than most files, because messages, ticks and the end of the session all act on the same table of streams.
import { TransientMap } from '@wins/base';
import {
  type MessageTransport,
  type TransportEvents,
  Reading,
} from '../stream/message-transport.js';
import type { TunnelTraffic } from '../stream/tunnel-stream.js';
import { SessionStream, type SessionLink } from '../stream/session-stream.js';
import { SharedBuffer } from '../stream/flow-control.js';
import type { UdpFlowEvents } from '../udp/udp-flow.js';
import { SessionFlow, type FlowLink } from './session-flow.js';
import { Intake, type Work, Probes } from './intake.js';
import {
  type SessionRole,
  mayMoveSession,
  type SessionState,
  type TunnelEnd,
} from './session-state.js';
import type { SessionSettings } from '../stream/session-settings.js';
import { type RoundMember, SendRound } from '../stream/send-round.js';
import { SilenceOrder } from '../stream/silence-order.js';
import { SlowReaders } from './slow-readers.js';
import { TunnelError } from '../tunnel-error.js';
import { decodeData, decodeMessage, MessageEncoder } from '../wire/encode.js';
import { DATAGRAM_REVISION, type TunnelMessage } from '../wire/message.js';
import { writeRefusal } from '../wire/refusal.js';
import type { Int64 } from '../wire/varint.js';

const NOTHING = Buffer.alloc(0);
const CLOSE_NORMAL = 1000;
const CLOSE_PROTOCOL = 1002;
const CLOSE_UNSUPPORTED = 1003;
/**
 * Longest silence of the peer that one tick may count, in tick intervals. A tick that comes even later shows that this
 * process has stalled, and the stall must not count as silence of the peer.
 */
const LATE_TICK = 1.5;
/** Ticks for which a client's Sync may omit a new stream: some clients build the Sync before a Connect and send it afterwards. */
const SYNC_GRACE_TICKS = 1;
const UNANSWERED_PINGS = 3;
/** A Sync may list every stream, so it uses the whole budget of a turn. */
const WORK_OF_A_LIST = 32;
/** A datagram costs a system call; many small ones in one read must not starve other work. */
const WORK_OF_A_DATAGRAM = 0.5;

/**
 * One end of a tunnel, in either role, over any transport. Has no timer: its owner calls `tick`. This class is long, because each kind of frame
 * changes the same streams and budgets.
 */
export class Session implements TransportEvents, SessionLink, FlowLink {
  readonly encoder = new MessageEncoder();
  readonly shared: SharedBuffer;
  readonly settings: SessionSettings;
  readonly traffic: TunnelTraffic = {
    receivedBytes: 0,
    sentBytes: 0,
    pauses: 0,
    droppedDatagrams: 0,
  };
  waitingBytes = 0;
  flowBytes = 0;
  readonly #role: SessionRole;
  readonly #transport: MessageTransport;
  readonly #live = new TransientMap<Int64, SessionStream>();
  /** Streams that are not destroyed yet, by number; some still have unread data. */
  readonly #undestroyed = new TransientMap<number, SessionStream>();
  readonly #silence = new SilenceOrder<SessionStream>();
  readonly #flows = new Map<Int64, SessionFlow>();
  readonly #round: SendRound;
  readonly #intake: Intake;
  readonly #probes = new Probes();
  readonly #slowReaders: SlowReaders;
  readonly #onEnd: (end: TunnelEnd) => void;
  readonly #onIdle: () => void;
  #state: SessionState = { kind: 'open' };
  /** True once the transport has closed. */
  #isUnanswerable = false;
  #peerRevision = 0;
  #nextId = 1;
  #opened = 0;
  #ticks = 0;
  #silentMs = 0;
  #heardTick = 0;

  constructor(options: {
    readonly role: SessionRole;
    readonly transport: MessageTransport;
    readonly settings: SessionSettings;
    readonly onEnd: (end: TunnelEnd) => void;
    readonly onIdle: () => void;
    readonly onPeerNeverPauses: () => void;
  }) {
    this.#role = options.role;
    this.#transport = options.transport;
    this.settings = options.settings;
    this.#onEnd = options.onEnd;
    this.#onIdle = options.onIdle;
    this.#round = new SendRound(options.transport, options.settings.flow);
    this.shared = new SharedBuffer(options.settings.flow);
    const reading = new Reading(options.transport);
    this.#intake = new Intake(options.transport, reading, (bytes) => this.#read(bytes));
    const { stoppedReaderMs, tickMs } = options.settings;
    this.#slowReaders = new SlowReaders(
      ...([reading, this.shared, Math.ceil(stoppedReaderMs / tickMs)] as const),
      options.onPeerNeverPauses,
    );
    // A peer with extensions answers; any other ignores the message as unknown.
    if (this.#role.kind === 'client') this.control(this.encoder.hello());
  }

  get state(): SessionState {
    return this.#state;
  }

  get streamCount(): number {
    return this.#undestroyed.size;
  }

  get flowCount(): number {
    return this.#flows.size;
  }

  /**
   * Stream with the longest silence, if the peer lacks half-close. The end of such a stream may never be reported.
   * Undefined if the peer reports all ends.
   */
  get longestSilent(): SessionStream | undefined {
    return this.peerExtended ? undefined : this.#silence.longest;
  }

  get #active(): boolean {
    return this.#state.kind === 'open' || this.#state.kind === 'draining';
  }

  connect(address: string): SessionStream {
    const id = this.#nextId++;
    const stream = this.#open(id, address);
    this.control(this.encoder.connect(id, address));
    return stream;
  }

  connectFlow(address: string, events: UdpFlowEvents): SessionFlow {
    const flow = this.#openFlow(this.#nextId++, events);
    this.control(this.encoder.connect(flow.id, address));
    return flow;
  }

  probe(): Promise<boolean> {
    if (this.#active) this.#ping();
    return this.#probes.next();
  }

  drain(): void {
    if (!this.#move({ kind: 'draining' })) return;
    for (const stream of [...this.#live.values()]) stream.tellHeldEnd();
  }

  close(end: TunnelEnd): void {
    if (!this.#active) return;
    for (const stream of [...this.#live.values()]) stream.destroy(sessionEnded(end));
    this.#endFlows(end);
    this.#move({ kind: 'closing', end });
    this.#transport.close(CLOSE_NORMAL, '');
  }

  /** Destroys the streams whose unread data kept them open after the session. */
  destroyStreams(): void {
    for (const stream of [...this.#undestroyed.values()]) stream.destroy();
  }

  /** `elapsedMs`: monotonic time since the last tick. */
  tick(elapsedMs: number): void {
    if (!this.#active) return;
    this.#ticks += 1;
    const { tickMs, silenceTimeoutMs, syncIntervalMs } = this.settings;
    // While reading is paused, the peer's silence means nothing.
    if (!this.#slowReaders.holding) this.#silentMs += Math.min(elapsedMs, tickMs * LATE_TICK);
    if (this.#silentMs >= silenceTimeoutMs) {
      const message = `no traffic from the peer for ${Math.round(this.#silentMs / 1000)} s (limit ${silenceTimeoutMs / 1000} s)`;
      this.#fail(new TunnelError('peerSilent', message));
      return;
    }
    if (this.#failsAfterConnect()) return;
    // Include streams that are no longer in `#live`, because their readers may have stopped.
    for (const stream of [...this.#undestroyed.values()]) stream.tick();
    this.#slowReaders.tick();
    if (this.#role.kind === 'client') {
      this.#ping();
      if (this.#ticks % Math.max(1, Math.round(syncIntervalMs / tickMs)) === 0)
        this.control(this.encoder.sync([...this.#live.keys()]));
    }
    this.#round.run();
  }

  // Methods that streams call.

  get peerExtended(): boolean {
    return this.#peerRevision >= 1;
  }

  get peerCarriesDatagrams(): boolean {
    return this.#peerRevision >= DATAGRAM_REVISION;
  }

  get holdsLocalEnd(): boolean {
    return this.#role.kind === 'client';
  }

  bytesMoved(stream: SessionStream): void {
    // A destroyed stream may still be read.
    if (!stream.destroyed) this.#silence.heard(stream);
  }

  readerBehind(stream: SessionStream): void {
    this.#slowReaders.add(stream);
  }

  readerCaughtUp(stream: SessionStream): void {
    this.#slowReaders.delete(stream);
  }

  later(delayMs: number, then: () => void): void {
    this.#transport.afterTurn(delayMs, then);
  }

  /** Sends a control message ahead of queued data. */
  control(message: Buffer): void {
    if (!this.#active) return;
    this.#transport.send(message, this.#round.sent);
    this.#boundUnsent();
  }

  ready(member: RoundMember): void {
    this.#round.join(member);
  }

  releaseFlow(flow: SessionFlow): void {
    if (this.#flows.get(flow.id) === flow) this.#flows.delete(flow.id);
  }

  release(stream: SessionStream): void {
    if (this.#live.get(stream.id) === stream) this.#live.delete(stream.id);
  }

  gone(stream: SessionStream): void {
    this.#slowReaders.delete(stream);
    this.#silence.delete(stream);
    this.#undestroyed.delete(stream.number);
    if (this.#undestroyed.size === 0) this.#onIdle();
  }

  // Methods that the transport calls.

  message(parts: readonly Buffer[]): void {
    if (!this.#active) return;
    this.#hear();
    const [first = NOTHING] = parts;
    if (parts.length === 1) this.#intake.take(first);
    else if (!this.#intake.isFree || !this.#takeData(first, parts.slice(1)))
      this.#intake.take(Buffer.concat(parts));
  }

  heard(): void {
    this.#hear();
    this.#boundUnsent();
  }

  answered(): void {
    this.heard();
    this.#probes.answered();
  }

  violated(what: string): void {
    this.#fail(new TunnelError('protocolViolation', what), CLOSE_UNSUPPORTED);
  }

  closed(code: number, reason: string, error: Error | undefined): void {
    this.#isUnanswerable = true;
    this.#intake.flush();
    const end: TunnelEnd =
      this.#state.kind === 'closing'
        ? this.#state.end
        : error === undefined
          ? { reason: 'peer-closed', code, text: reason }
          : {
              reason: 'failed',
              error: new TunnelError('webSocketFailed', `the WebSocket failed: ${error.message}`, {
                cause: error,
              }),
            };
    if (!this.#move({ kind: 'closed', end })) return;
    // Streams that the peer closed earlier are complete and no longer in `#live`; they remain until they are read.
    for (const stream of [...this.#live.values()]) stream.abandon(sessionEnded(end));
    this.#endFlows(end);
    this.#round.clear();
    this.#probes.end();
    this.#onEnd(end);
  }

  #ping(): void {
    this.#probes.sent();
    this.#transport.ping();
  }

  #hear(): void {
    this.#silentMs = 0;
    this.#heardTick = this.#ticks;
  }

  /**
   * Fails the session if a Go server has stopped serving it. After a refused Connect, a Go server leaves the WebSocket open but
   * silent. The first Connect since the server's last sign of life counts as refused.
   */
  #failsAfterConnect(): boolean {
    if (this.#role.kind === 'server' || this.peerExtended || this.#slowReaders.holding)
      return false;
    if (this.#ticks - this.#heardTick <= UNANSWERED_PINGS) return false;
    for (const { address, bornTick, bytesRead } of this.#live.values()) {
      if (address === undefined || bornTick < this.#heardTick || bytesRead > 0) continue;
      const message = `no answer to ${UNANSWERED_PINGS} pings since the Connect to ${address}; the server may not allow that port`;
      this.#fail(
        new TunnelError('peerSilent', message, { port: Number(address.split(':').at(-1)) }),
      );
      return true;
    }
    return false;
  }

  #read(bytes: Buffer): Work {
    if (!this.#active) return 0;
    return this.#guard(() => this.#dispatch(decodeMessage(bytes))) ?? 0;
  }

  /** Handles a Data message without joining its parts. Returns false for other messages and for unknown streams. */
  #takeData(beginning: Buffer, rest: readonly Buffer[]): boolean {
    const data = this.#guard(() => decodeData(beginning));
    const stream = data && this.#live.get(data.id);
    if (data === undefined || stream === undefined) return false;
    stream.acceptData(data.payload, ...rest);
    return true;
  }

  #guard<T>(read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof TunnelError)) throw error;
      this.#fail(error);
      return undefined;
    }
  }

  #dispatch(message: TunnelMessage): Work {
    const stream = 'id' in message ? this.#live.get(message.id) : undefined;
    // All that waited is handled at once, so only data of open streams may count.
    if (this.#isUnanswerable && stream === undefined) return 0;
    switch (message.type) {
      case 'data':
        if (stream === undefined) return this.#answerUnknown(message.id);
        stream.acceptData(message.payload);
        return 0;
      case 'connect':
        return this.#acceptConnect(message.id, message.address);
      case 'error':
        stream?.acceptError(message.text);
        this.#flows.get(message.id)?.acceptError(message.text);
        return 0;
      case 'pause':
        stream?.acceptPause();
        return 0;
      case 'resume':
        stream?.acceptResume();
        return 0;
      case 'end':
        if (stream === undefined) return this.#answerUnknown(message.id);
        stream.acceptEnd();
        return 0;
      case 'datagram': {
        const flow = this.#flows.get(message.id);
        if (flow === undefined) return this.#answerUnknown(message.id);
        flow.accept(message.payload);
        return WORK_OF_A_DATAGRAM;
      }
      case 'sync':
        this.#acceptSync(message.ids);
        return WORK_OF_A_LIST;
      case 'hello':
        this.#acceptHello(message.revision);
        return 0;
      case 'unknown':
        return 0;
    }
  }

  #acceptConnect(id: Int64, address: string): Work {
    // Ignore a repeated Connect.
    if (this.#live.has(id) || this.#flows.has(id)) return 1;
    if (this.#role.kind === 'client') {
      this.control(this.encoder.error(id, writeRefusal('client-role')));
      return 1;
    }
    const admission = this.#role.admit(address, id, this.peerCarriesDatagrams);
    if ('open' in admission) {
      admission.open(this.#open(id));
      return 1;
    }
    if ('openFlow' in admission) {
      const flow = this.#openFlow(id, {
        onDatagram: (datagram) => destination.send(datagram),
        onEnd: () => destination.close(),
      });
      const destination = admission.openFlow(flow);
      return 1;
    }
    this.control(this.encoder.error(id, admission.refusal));
    return admission.isOverRate ? 'over-rate' : 1;
  }

  #acceptSync(ids: readonly Int64[]): void {
    if (this.#role.kind === 'client') return;
    const listed = new Set(ids);
    for (const stream of [...this.#live.values()]) {
      if (listed.has(stream.id) || this.#ticks - stream.bornTick <= SYNC_GRACE_TICKS) continue;
      const message = 'the peer no longer lists the stream as open';
      stream.failAfterHeld(new TunnelError('streamForgotten', message, { streamId: stream.id }));
    }
    // If a listed stream does not exist here, the message that ended it was lost, so tell the peer again.
    for (const id of ids.slice(0, this.#role.mostListed))
      if (!this.#live.has(id)) this.#answerUnknown(id);
  }

  #acceptHello(revision: number): void {
    const first = this.#peerRevision === 0;
    this.#peerRevision = Math.max(this.#peerRevision, revision);
    if (!first || !this.peerExtended) return;
    this.#slowReaders.peerPauses();
    if (this.#role.kind === 'server') this.control(this.encoder.hello());
    for (const stream of [...this.#live.values()]) stream.peerBecameExtended();
  }

  #answerUnknown(id: Int64): Work {
    this.control(this.encoder.error(id, `connection not found tunnel/0/${id}`));
    return 1;
  }

  #open(id: Int64, address?: string): SessionStream {
    const number = (this.#opened += 1);
    const stream = new SessionStream(id, number, this, this.#ticks, address);
    this.#live.set(id, stream);
    this.#undestroyed.set(number, stream);
    this.#silence.heard(stream);
    return stream;
  }

  #openFlow(id: Int64, events: UdpFlowEvents): SessionFlow {
    const flow = new SessionFlow(id, this, events);
    this.#flows.set(id, flow);
    return flow;
  }

  #endFlows(end: TunnelEnd): void {
    for (const flow of [...this.#flows.values()]) flow.abandon(sessionEnded(end));
  }

  #boundUnsent(): void {
    const unsent = this.#transport.bufferedBytes;
    if (unsent <= this.settings.flow.unsentCapBytes) return;
    this.#fail(
      new TunnelError(
        'sendOverflow',
        `cannot send: found ${unsent} bytes that the peer does not read; wanted ${this.settings.flow.unsentCapBytes} at most`,
      ),
    );
  }

  #fail(error: TunnelError, code = CLOSE_PROTOCOL): void {
    if (!this.#active) return;
    this.#move({ kind: 'closing', end: { reason: 'failed', error } });
    for (const stream of [...this.#live.values()])
      stream.abandon(sessionEnded({ reason: 'failed', error }));
    this.#endFlows({ reason: 'failed', error });
    if (error.code === 'protocolViolation') this.#transport.close(code, 'protocol-violation');
    else this.#transport.terminate();
  }

  #move(next: SessionState): boolean {
    if (!mayMoveSession(this.#state.kind, next.kind)) return false;
    this.#state = next;
    return true;
  }
}

function sessionEnded(end: TunnelEnd): TunnelError {
  const cause = end.reason === 'failed' ? end.error : undefined;
  return new TunnelError('sessionEnded', `the tunnel ended (${cause?.code ?? end.reason})`, {
    cause,
  });
}
