// This file is longer than most, because each step of a Connect, from the grant to the end of its stream, changes the same slot.
import { escapeText, reporter } from '@wins/base';
import type { SessionStream } from './stream/session-stream.js';
import {
  createConnectLimits,
  type BeginDial,
  type PeerConnects,
} from './session/connect-limits.js';
import { isTcpPort, judgeDestination } from './tcp/destination-policy.js';
import { joinSocket } from './tcp/join-socket.js';
import type { Admission } from './session/session-state.js';
import { streamLimit, type TunnelOptions } from './stream/session-settings.js';
import { dialLoopback, dialTcp, type Dial } from './tcp/tcp-connector.js';
import type { TunnelStream } from './stream/tunnel-stream.js';
import { dialError, TunnelError } from './tunnel-error.js';
import type { SessionFlow } from './session/session-flow.js';
import { dialUdp } from './udp/dial-udp.js';
import type { UdpFlow } from './udp/udp-flow.js';
import { UdpTracker } from './udp/udp-tracker.js';
import { SessionTunnel, type Tunnel } from './tunnel.js';
import type { TunnelWebSocket } from './web-socket/web-socket-options.js';
import { PROTOCOL_LIMITS } from './wire/limits.js';
import { writeRefusal, type RefusalRule } from './wire/refusal.js';
import type { Int64 } from './wire/varint.js';

/** The decision on one Connect, for a log or an audit. */
export type ConnectRecord = {
  /** The connection id on the wire. */
  readonly streamId: Int64;
  /** The received text, with invisible characters escaped, cut at the limit of the protocol. */
  readonly address: string;
  /** Absent, like `port`, for a refusal that names none. */
  readonly protocol?: 'tcp' | 'udp' | undefined;
  readonly port?: number | undefined;
} & (
  | { readonly allowed: true; readonly rule: 'port-allowed' }
  | { readonly allowed: false; readonly rule: RefusalRule }
);

type ConnectSubject = Omit<ConnectRecord, 'allowed' | 'rule'>;

/** Options of {@link serveTunnel}. */
export interface ServeTunnelOptions extends TunnelOptions {
  /** Loopback TCP ports that clients may reach; an empty list allows none. */
  readonly allowedPorts: readonly number[];
  /** Loopback UDP ports that clients may reach. Default: none. */
  readonly allowedUdpPorts?: readonly number[] | undefined;
  /**
   * Maximum number of streams, and also of the sockets dialled for them. A socket counts until it is closed. The same
   * maximum applies to UDP flows, counted separately. Default 1,024, at most 16,384. At the limit, a new stream is
   * refused, or, if the client lacks half-close, replaces the stream with the longest silence (`streamIdle`). A new flow
   * replaces the oldest flow whose source may be forged; if there is none, the new flow is refused.
   */
  readonly maxStreams?: number | undefined;
  /**
   * Called for every Connect, before the dial. `isTold` is true if the Connect should be logged. It is false for
   * refusals that exceed the peer's rate limit. Only count such refusals, because a peer can cause any number of them.
   * If `onConnect` returns false or throws for an allowed Connect, this Connect is refused as `not-recorded`, and a second
   * call reports the refusal. A promise is not awaited.
   */
  readonly onConnect?: ((record: ConnectRecord, isTold: boolean) => unknown) | undefined;
  /** Called for each allowed TCP Connect, before the dial. A failed dial destroys the stream. */
  readonly onStream?: ((stream: TunnelStream, port: number) => unknown) | undefined;
  /** Called when a dial ends, unless the stream was closed before. */
  readonly onDialed?: ((port: number, failure: TunnelError | undefined) => unknown) | undefined;
  /** Rate limits for failed Connects. All sessions of a client may share them. Default: limits for this session alone. */
  readonly limits?: PeerConnects | undefined;
  /**
   * Queues a dial until it is this session's turn; the returned function cancels the dial, even while queued. A dial
   * that waits longer than 10 s fails. Default: starts each dial at once.
   */
  readonly beginDial?: ((begin: BeginDial) => () => void) | undefined;
  /**
   * Takes a slot for a new stream or flow. The slots belong to a quota that several sessions share. Returns a function
   * that frees the slot, or undefined at the limit: a client without half-close then replaces a stream, as with
   * `maxStreams`, and any other Connect is refused as `stream-limit`. To reclaim a slot, the quota calls the slot's
   * `end`. Slots whose `isIdle` returns true are reclaimed first. Default: no shared quota.
   */
  readonly takeStream?:
    | ((end: () => void, isIdle: () => boolean) => (() => void) | undefined)
    | undefined;
  /** Default: {@link dialTcp}. */
  readonly dial?: Dial | undefined;
}

/**
 * Starts the server role on an open WebSocket, which the tunnel then owns. For each allowed Connect, dials a literal
 * loopback address and joins the new connection to the stream of this Connect. If a Connect is refused or fails, only
 * its stream ends. Call this function synchronously in the WebSocket's `open` handler, so that no message is missed.
 *
 * @throws {TunnelError} `webSocketNotOpen`, `invalidOption`.
 */
export function serveTunnel(socket: TunnelWebSocket, options: ServeTunnelOptions): ServerTunnel {
  return new ServerEnd(socket, options);
}

/** The side that dials. */
export interface ServerTunnel extends Tunnel {
  /**
   * Replaces the allowed ports for later Connects. Ends flows to UDP ports that are no longer allowed.
   *
   * @throws {TunnelError} `invalidOption`.
   */
  allowPorts(ports: readonly number[], udpPorts?: readonly number[]): void;
}

/** Slot of a stream in the shared quota. A new stream that replaces another one takes over its slot. */
interface Slot {
  stream: SessionStream | undefined;
  readonly free: () => void;
}

function atOnce(begin: BeginDial): () => void {
  return begin(() => undefined);
}

class ServerEnd extends SessionTunnel implements ServerTunnel {
  #allowedPorts: ReadonlySet<number>;
  #allowedUdpPorts: ReadonlySet<number>;
  /** Port of each open flow, by the function that ends the flow. */
  readonly #flows = new Map<() => void, number>();
  readonly #slots = new WeakMap<SessionStream, Slot>();
  readonly #tracker: UdpTracker;
  readonly #options: ServeTunnelOptions;
  readonly #maxStreams: number;
  readonly #limits: PeerConnects;

  constructor(socket: TunnelWebSocket, options: ServeTunnelOptions) {
    const maxStreams = streamLimit(options.maxStreams);
    const allowedPorts = portSet(options.allowedPorts);
    const allowedUdpPorts = portSet(options.allowedUdpPorts ?? []);
    const limits = options.limits ?? createConnectLimits().of('');
    super(
      socket,
      {
        kind: 'server',
        admit: (address, id, carriesDatagrams) => this.#admit(address, id, carriesDatagrams),
        mostListed: maxStreams,
      },
      options,
    );
    this.#options = {
      ...options,
      onStream: reporter(options.onStream),
      onDialed: reporter(options.onDialed),
    };
    this.#maxStreams = maxStreams;
    this.#allowedPorts = allowedPorts;
    this.#allowedUdpPorts = allowedUdpPorts;
    this.#tracker = new UdpTracker({ most: maxStreams });
    this.#limits = limits;
  }

  allowPorts(ports: readonly number[], udpPorts: readonly number[] = []): void {
    this.#allowedPorts = portSet(ports);
    this.#allowedUdpPorts = portSet(udpPorts);
    for (const [end, port] of [...this.#flows]) if (!this.#allowedUdpPorts.has(port)) end();
  }

  #admit(address: string, streamId: Int64, carriesDatagrams: boolean): Admission {
    const udpPorts = carriesDatagrams ? this.#allowedUdpPorts : undefined;
    const verdict = judgeDestination(address, this.#allowedPorts, udpPorts);
    const text = escapeText(address, { maxLength: PROTOCOL_LIMITS.connectBytes });
    if (!verdict.allowed)
      return this.#refuse({ streamId, address: text, ...verdict }, verdict.rule);
    const { allowed, rule, protocol, port } = verdict;
    const record: ConnectRecord = { streamId, address: text, allowed, rule, protocol, port };
    if (this.state !== 'open') return this.#refuse(record, 'draining');
    const isFull = protocol === 'tcp' && this.streamCount >= this.#maxStreams;
    if (isFull && this.session.longestSilent === undefined)
      return this.#refuse(record, 'stream-limit');
    if (!this.#limits.mayDial(port)) return this.#refuse(record, 'connect-rate');
    if (protocol === 'udp') return this.#admitFlow(record, port);
    const taken = isFull ? undefined : this.#takeSlot();
    const replaced = taken === undefined ? this.session.longestSilent : undefined;
    const slot = taken ?? (replaced && this.#slots.get(replaced));
    if (slot === undefined) return this.#refuse(record, 'stream-limit');
    if (!this.#record(record, true)) {
      taken?.free();
      return this.#refuse(record, 'not-recorded');
    }
    return {
      open: (stream) => {
        this.#slots.set(stream, slot);
        slot.stream = stream;
        replaced?.endForAnother();
        stream.once('close', () => {
          if (slot.stream === stream) slot.free();
        });
        this.#options.onStream?.(stream, port);
        this.#dial(stream, port);
      },
    };
  }

  #takeSlot(): Slot | undefined {
    const { takeStream = () => () => undefined } = this.#options;
    let slot: Slot | undefined;
    const free = takeStream(
      () => slot?.stream?.destroy(yielded()),
      () => slot?.stream !== undefined && this.#isReplaceable(slot.stream),
    );
    return free && (slot = { stream: undefined, free });
  }

  /** True for one stream of a session at most. The quota then first ends a stream that its client has probably closed. */
  #isReplaceable(stream: SessionStream): boolean {
    return stream.silentMs > 0 && stream === this.session.longestSilent;
  }

  #admitFlow(record: ConnectRecord, port: number): Admission {
    let flow: SessionFlow | undefined;
    let destination: UdpFlow | undefined;
    const release = (): void => {
      this.#flows.delete(end);
      tracked?.release();
      giveBack?.();
      destination?.close();
    };
    const end = (error?: TunnelError): void => {
      release();
      if (error === undefined) flow?.close();
      else flow?.fail(error);
    };
    const tracked = this.#tracker.track('', end);
    const { takeStream = () => () => undefined, onDialed } = this.#options;
    const giveBack = tracked && takeStream(end, () => !tracked.isAssured);
    if (tracked === undefined || giveBack === undefined || !this.#record(record, true)) {
      release();
      return this.#refuse(record, giveBack ? 'not-recorded' : 'stream-limit');
    }
    return {
      openFlow: (opened) => {
        flow = opened;
        this.#flows.set(end, port);
        let isAnswered = false;
        const dialed = dialUdp(
          { host: '127.0.0.1', port },
          {
            onDatagram: (datagram) => {
              if (!isAnswered) onDialed?.(port, undefined);
              isAnswered = true;
              tracked.replied();
              opened.send(datagram);
            },
            onEnd: (error) => {
              this.#limits.fail(port);
              const failure = error instanceof TunnelError ? error : dialError(port, error);
              if (!isAnswered) onDialed?.(port, failure);
              end(failure);
            },
          },
        );
        destination = dialed;
        return {
          send: (datagram) => {
            tracked.sent();
            dialed.send(datagram);
          },
          close: release,
        };
      },
    };
  }

  /** Returns false if the record failed or its callback answers false, so that an allowed Connect must be refused. */
  #record(record: ConnectRecord, isTold: boolean): boolean {
    let answer: unknown = false;
    reporter(() => (answer = this.#options.onConnect?.(record, isTold)))();
    return answer !== false;
  }

  #refuse(subject: ConnectSubject, rule: RefusalRule): Admission {
    const isTold = this.#limits.refuse();
    this.#record({ ...subject, allowed: false, rule }, isTold);
    return { refusal: writeRefusal(rule), isOverRate: !isTold };
  }

  #dial(stream: SessionStream, port: number): void {
    const dial = this.#options.dial ?? dialTcp;
    const { dialTimeoutMs: timeoutMs, lingerMs } = this.times;
    const slot: { isTaken: boolean; late?: NodeJS.Timeout } = { isTaken: false };
    const { beginDial = atOnce } = this.#options;
    const takeBack = beginDial((done) => {
      slot.isTaken = true;
      clearTimeout(slot.late);
      if (this.state === 'closing' || this.state === 'closed') {
        done();
        return () => undefined;
      }
      return dialLoopback(port, { timeoutMs, dial }, (outcome) => {
        stream.off('close', leave);
        if (outcome instanceof TunnelError) {
          this.#limits.fail(port);
          this.#failed(stream, port, outcome);
        } else {
          this.own(outcome);
          this.#options.onDialed?.(port, undefined);
          joinSocket(outcome, stream, lingerMs);
        }
        done();
      });
    });
    if (!slot.isTaken) {
      slot.late = setTimeout(() => {
        const message = `cannot dial port ${port}: too many other dials for ${timeoutMs} ms`;
        this.#failed(stream, port, new TunnelError('dialTimeout', message, { port }));
      }, timeoutMs);
    }
    const leave = (): void => {
      clearTimeout(slot.late);
      takeBack();
    };
    // The `close` event that follows handles the error.
    stream.on('error', () => undefined);
    stream.once('close', leave);
  }

  #failed(stream: SessionStream, port: number, failure: TunnelError): void {
    this.#options.onDialed?.(port, failure);
    stream.destroy(failure);
  }
}

function yielded(): TunnelError {
  const message =
    'cannot continue the stream: its client has more than its share of the streams of all clients';
  return new TunnelError('tooManyStreams', message);
}

function portSet(ports: readonly number[]): ReadonlySet<number> {
  const wrong = ports.find((port) => !isTcpPort(port));
  if (wrong === undefined) return new Set(ports);
  throw new TunnelError('invalidOption', `cannot allow port ${wrong}; wanted 1 to 65535`);
}
