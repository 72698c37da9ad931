const KIB = 1024;
const MIB = 1024 * KIB;

/** Default limits of sessions, in bytes. */
export const DEFAULT_FLOW_LIMITS = {
  /** Unread bytes above which a stream asks its peer to pause. The limit is lower if the session has less free buffer space. */
  pauseAboveBytes: 2 * MIB,
  /** Unread bytes below which a paused stream asks its peer to resume. */
  resumeBelowBytes: 256 * KIB,
  /** Buffer space for the unread bytes of all streams in a session. When it is full, each stream may still hold `leastShareBytes`. */
  sharedBufferBytes: 24 * MIB,
  /** Minimum share of a stream, however full the session's buffer is. */
  leastShareBytes: 64 * KIB,
  /** Further unread bytes after which a Pause is repeated. */
  repeatPauseBytes: 512 * KIB,
  /** Unread bytes above which a stream is reset, because its peer does not honour Pause. */
  streamCapBytes: 16 * MIB,
  /** While a session has more unread bytes than this, a stream that receives data is reset if it holds more than `leastShareBytes`. */
  sessionCapBytes: 128 * MIB,
  /** Streams wait to send while the WebSocket buffers this many bytes. */
  inFlightBytes: MIB,
  /** While a session has fewer queued bytes than this, a writer may continue before its data is sent. */
  sendAheadBytes: 4 * MIB,
  /** Bytes that a session sends before large messages pause, while a stream other than their sender is interactive. */
  turnBytes: 512 * KIB,
  /** Bytes that a session sends before large messages pause, while no stream other than their sender is interactive. */
  loneTurnBytes: 4 * MIB,
  /** Messages up to this size are never paused, because they usually belong to interactive streams. */
  sparseBytes: 4 * KIB,
  /** Unsent bytes above which a session ends, because the peer makes us answer but does not read. */
  unsentCapBytes: 8 * MIB,
} as const;

export type FlowLimits = Readonly<Record<keyof typeof DEFAULT_FLOW_LIMITS, number>>;

/**
 * Unread bytes of all streams of one session. Each stream may hold as much as the session has free, but at least the
 * minimum share and at most `limits.pauseAboveBytes`.
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
 * Receiving half of a stream's flow control: decides when to send Pause and Resume. Repeats both, because either may
 * be lost. A Pause is repeated at every tick, and sooner if the peer keeps sending. A Resume is repeated at every tick,
 * unless data has arrived since the last one.
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

  get neverPaused(): boolean {
    return this.#state.kind === 'never-paused';
  }

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

  tick(): 'pause' | 'resume' | undefined {
    if (this.#state.kind === 'never-paused') return undefined;
    if (this.#state.kind === 'paused') return 'pause';
    const quiet = !this.#state.heardSinceTick;
    this.#state = { kind: 'resumed', heardSinceTick: false };
    return quiet ? 'resume' : undefined;
  }

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
 * The sending half of a stream's flow control. No pause lasts forever, because the Resume that ends it may be lost. If the
 * peer renews its pauses at every tick, a pause expires after three missed renewals. If the peer does not renew its pauses,
 * the stream sends one message after six ticks, in spite of the pause. Further single messages follow at doubling
 * intervals. So few messages cannot flood a stopped reader.
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
