import { escapeText, reporter } from '@wins/base';
import { Fifo } from '../stream/fifo.js';
import type { TunnelTraffic } from '../stream/tunnel-stream.js';
import { TunnelError } from '../tunnel-error.js';
import type { UdpFlow, UdpFlowEvents } from '../udp/udp-flow.js';
import type { MessageEncoder } from '../wire/encode.js';
import { PROTOCOL_LIMITS } from '../wire/limits.js';
import { CLEAN_END } from '../wire/message.js';
import { readRefusal, writeFailure } from '../wire/refusal.js';
import type { Int64 } from '../wire/varint.js';
import type { OutgoingMessage, RoundMember } from '../stream/send-round.js';

/** Memory of a queued datagram besides its bytes, of which it may have none. */
const OVERHEAD_BYTES = 256;
const FLOW_QUEUE_BYTES = 2 * (PROTOCOL_LIMITS.datagramBytes + OVERHEAD_BYTES);
const SESSION_QUEUE_BYTES = 1024 * 1024;

export interface FlowLink {
  readonly encoder: MessageEncoder;
  readonly traffic: TunnelTraffic;
  flowBytes: number;
  control(message: Buffer): void;
  ready(member: RoundMember): void;
  releaseFlow(flow: SessionFlow): void;
}

/**
 * One UDP flow in a session. Its datagrams take turns with the data of streams. At the queue limit, datagrams are dropped.
 */
export class SessionFlow implements UdpFlow, RoundMember {
  readonly id: Int64;
  queued = false;
  waitingBytes = 0;
  readonly #link: FlowLink;
  readonly #waiting = new Fifo<Buffer>();
  /** Undefined once the flow has ended. */
  #events: UdpFlowEvents | undefined;

  constructor(id: Int64, link: FlowLink, events: UdpFlowEvents) {
    this.id = id;
    this.#link = link;
    this.#events = {
      onDatagram: reporter((datagram) => events.onDatagram(datagram)),
      onEnd: reporter((error) => events.onEnd(error)),
    };
  }

  get sendable(): boolean {
    return this.#events !== undefined && this.#waiting.length > 0;
  }

  send(datagram: Buffer): void {
    if (this.#events === undefined) return;
    const bytes = datagram.length + OVERHEAD_BYTES;
    const isTooMuch =
      datagram.length > PROTOCOL_LIMITS.datagramBytes ||
      this.waitingBytes + bytes > FLOW_QUEUE_BYTES ||
      this.#link.flowBytes + bytes > SESSION_QUEUE_BYTES;
    if (isTooMuch) {
      this.#link.traffic.droppedDatagrams += 1;
      return;
    }
    this.#waiting.push(datagram);
    this.#count(bytes);
    this.#link.ready(this);
  }

  takeMessage(): OutgoingMessage {
    const datagram = this.#waiting.shift() ?? Buffer.alloc(0);
    this.#count(-datagram.length - OVERHEAD_BYTES);
    this.#link.traffic.sentBytes += datagram.length;
    const message = this.#link.encoder.datagramHeader(this.id);
    return { bodyBytes: datagram.length, message, rest: [datagram] };
  }

  messageSent(): void {
    // Nothing to do: no caller waits until the datagram is sent.
  }

  close(): void {
    this.#end(CLEAN_END);
  }

  [Symbol.dispose](): void {
    this.close();
  }

  fail(error: { readonly code: string; readonly message: string }): void {
    this.#end(writeFailure(error));
  }

  accept(datagram: Buffer): void {
    this.#link.traffic.receivedBytes += datagram.length;
    this.#events?.onDatagram(datagram);
  }

  acceptError(text: string): void {
    if (text === CLEAN_END) {
      this.abandon();
      return;
    }
    const peerText = escapeText(text);
    const { code, rule } = readRefusal(text) ?? { code: 'streamReset' };
    const message = `cannot carry datagrams: the peer answered: ${peerText}`;
    this.abandon(new TunnelError(code, message, { streamId: this.id, rule, peerText }));
  }

  /** Ends the flow without notifying the peer. */
  abandon(error?: TunnelError): void {
    const events = this.#release();
    events?.onEnd(error);
  }

  #end(text: string): void {
    if (this.#release() !== undefined) this.#link.control(this.#link.encoder.error(this.id, text));
  }

  #release(): UdpFlowEvents | undefined {
    const events = this.#events;
    this.#events = undefined;
    this.#waiting.clear();
    this.#count(-this.waitingBytes);
    this.#link.releaseFlow(this);
    return events;
  }

  #count(bytes: number): void {
    this.waitingBytes += bytes;
    this.#link.flowBytes += bytes;
  }
}
