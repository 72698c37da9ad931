const KIB = 1024;
const MIB = 1024 * KIB;

/** The limits that sessions run with, in bytes. */
export const DEFAULT_FLOW_LIMITS = {
  /** A stream that holds more asks its peer to pause, while the session as a whole has room. */
  pauseAboveBytes: 2 * MIB,
  /** A paused stream that holds less lets its peer go on. */
  resumeBelowBytes: 256 * KIB,
  /** Bytes that all streams of a session may hold together before each gets a smaller share. */
  sharedBufferBytes: 24 * MIB,
  /** The share that every stream keeps however full the session is. */
  leastShareBytes: 64 * KIB,
  /** A peer that sends this much after a Pause gets another one. */
  repeatPauseBytes: 512 * KIB,
  /** A stream that holds more is reset: its peer does not honour Pause. */
  streamCapBytes: 16 * MIB,
  /** Above this a stream that holds more than its least share is reset when it receives more. */
  sessionCapBytes: 128 * MIB,
  /** Sources are not read while this much waits in the WebSocket. */
  inFlightBytes: MIB,
  /** While less waits in all streams of a session, each may have a second read of its source wait. */
  sendAheadBytes: 4 * MIB,
  /** The bytes that a session sends before its large messages rest, while another stream sends small ones. */
  turnBytes: 512 * KIB,
  /** The same while none does. */
  loneTurnBytes: 4 * MIB,
  /** A message up to this size never rests: it belongs to an interactive stream. */
  sparseBytes: 4 * KIB,
  /** A session with more than this unsent ends: the peer makes us answer and reads nothing. */
  unsentCapBytes: 8 * MIB,
} as const;

/** The numbers of flow control, in bytes; see {@link DEFAULT_FLOW_LIMITS}. */
export type FlowLimits = Readonly<Record<keyof typeof DEFAULT_FLOW_LIMITS, number>>;

/**
 * Bytes that all streams of one session hold together. Each stream may hold as much as is still free, between the least
 * share and the pause threshold: a lone slow reader gets all of it, a hundred of them share it.
 */
export class SharedBuffer {
  #totalBytes = 0;

  constructor(readonly limits: FlowLimits) {}

  get totalBytes(): number {
    return this.#totalBytes;
  }

  get pauseAboveBytes(): number {
    const free = this.limits.sharedBufferBytes - this.#totalBytes;
    return Math.min(this.limits.pauseAboveBytes, Math.max(this.limits.leastShareBytes, free));
  }

  get resumeBelowBytes(): number {
    return Math.min(this.limits.resumeBelowBytes, this.pauseAboveBytes / 2);
  }

  change(bytes: number): void {
    this.#totalBytes += bytes;
  }
}

type ReceiveState =
  | { readonly kind: 'never-paused' }
  | { readonly kind: 'paused'; readonly repeatAboveBytes: number }
  | { readonly kind: 'resumed'; readonly heardSinceTick: boolean };

/**
 * The receiving half of one stream's flow control: counts what the consumer has not taken and says what to tell the
 * peer. Both messages are restated, because either may get lost in a peer: a Pause when the peer goes on sending and at
 * every tick, a Resume at every tick in which nothing came.
 */
export class ReceiveGate {
  readonly #shared: SharedBuffer;
  #heldBytes = 0;
  #state: ReceiveState = { kind: 'never-paused' };

  constructor(shared: SharedBuffer) {
    this.#shared = shared;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** The peer was never asked to wait: what it does not send it does not have. */
  get neverPaused(): boolean {
    return this.#state.kind === 'never-paused';
  }

  /** Data arrived, whether or not it has to be held. */
  heard(): void {
    if (this.#state.kind === 'resumed' && !this.#state.heardSinceTick)
      this.#state = { kind: 'resumed', heardSinceTick: true };
  }

  hold(bytes: number): 'pause' | 'overflow' | undefined {
    const { limits } = this.#shared;
    this.#heldBytes += bytes;
    this.#shared.change(bytes);
    if (this.#heldBytes > limits.streamCapBytes) return 'overflow';
    if (
      this.#shared.totalBytes > limits.sessionCapBytes &&
      this.#heldBytes > limits.leastShareBytes
    )
      return 'overflow';
    const threshold =
      this.#state.kind === 'paused' ? this.#state.repeatAboveBytes : this.#shared.pauseAboveBytes;
    if (this.#heldBytes <= threshold) return undefined;
    this.#state = { kind: 'paused', repeatAboveBytes: this.#heldBytes + limits.repeatPauseBytes };
    return 'pause';
  }

  release(bytes: number): 'resume' | undefined {
    this.#heldBytes -= bytes;
    this.#shared.change(-bytes);
    if (this.#state.kind !== 'paused') return undefined;
    if (this.#heldBytes >= this.#shared.resumeBelowBytes) return undefined;
    this.#state = { kind: 'resumed', heardSinceTick: false };
    return 'resume';
  }

  /** Returns the message to repeat to the peer at this tick. */
  tick(): 'pause' | 'resume' | undefined {
    if (this.#state.kind === 'never-paused') return undefined;
    if (this.#state.kind === 'paused') return 'pause';
    const quiet = !this.#state.heardSinceTick;
    this.#state = { kind: 'resumed', heardSinceTick: false };
    return quiet ? 'resume' : undefined;
  }

  /** Gives everything back; the stream is gone. */
  dispose(): void {
    this.#shared.change(-this.#heldBytes);
    this.#heldBytes = 0;
  }
}

type SendState =
  | { readonly kind: 'open' }
  | { readonly kind: 'probe'; readonly nextProbeTicks: number }
  | { readonly kind: 'paused'; readonly silentTicks: number; readonly nextProbeTicks: number };

const RENEWALS_MISSED = 3;
const FIRST_PROBE_TICKS = 6;
const SLOWEST_PROBE_TICKS = 128;

/**
 * The sending half: may this stream send? A pause does not last forever. A peer that renews its pauses is believed
 * until it missed three renewals. One that does not gets a single message after six ticks, then at doubling intervals: a
 * lost Resume costs speed but not the stream, and a reader that really stopped is not flooded.
 */
export class SendGate {
  #state: SendState = { kind: 'open' };

  get open(): boolean {
    return this.#state.kind !== 'paused';
  }

  pause(): void {
    const nextProbeTicks =
      this.#state.kind === 'open' ? FIRST_PROBE_TICKS : this.#state.nextProbeTicks;
    this.#state = { kind: 'paused', silentTicks: 0, nextProbeTicks };
  }

  resume(): void {
    this.#state = { kind: 'open' };
  }

  sent(): void {
    if (this.#state.kind === 'probe') this.pause();
  }

  tick(peerRenews: boolean): boolean {
    if (this.#state.kind !== 'paused') return false;
    const silentTicks = this.#state.silentTicks + 1;
    const { nextProbeTicks } = this.#state;
    if (peerRenews && silentTicks > RENEWALS_MISSED) this.resume();
    else if (!peerRenews && silentTicks >= nextProbeTicks)
      this.#state = {
        kind: 'probe',
        nextProbeTicks: Math.min(nextProbeTicks * 2, SLOWEST_PROBE_TICKS),
      };
    else this.#state = { kind: 'paused', silentTicks, nextProbeTicks };
    return this.open;
  }
}
