import fc from 'fast-check';
import type { SessionStream } from './stream/session-stream.js';
import type { FlowLimits } from './stream/flow-control.js';
import { Session } from './session/session.js';
import { DEFAULT_TIMES, type SessionSettings } from './stream/session-settings.js';
import { MemoryLink } from './testing/memory-link.js';
import { decodeMessage } from './wire/encode.js';

/*
 * Two sessions joined by a transport that delays, loses and repeats messages by a generated schedule. After any schedule,
 * once readers read and messages flow again, every stream must end, every byte must have arrived once and in order, and
 * buffered data must have stayed within the limits.
 */

/** Schedules of each property; other ones in each run. */
const RUNS = process.env['WINS_TEST_TIER'] === 'long' ? 500 : 50;
// Shrinking a failing schedule would take longer than a test may. The seed and the path that are printed repeat it.
const EACH = { numRuns: RUNS, endOnFailure: true };
const KIB = 1024;
const WIRE_MESSAGES = 4;
const MOST_CHANNELS = 4;
const MOST_WRITE = 160 * KIB;
const flow: FlowLimits = {
  pauseAboveBytes: 32 * KIB,
  resumeBelowBytes: 8 * KIB,
  sharedBufferBytes: 64 * KIB,
  leastShareBytes: 8 * KIB,
  repeatPauseBytes: 48 * KIB,
  streamCapBytes: 4096 * KIB,
  sessionCapBytes: 8192 * KIB,
  inFlightBytes: 64 * KIB,
  sendAheadBytes: 128 * KIB,
  turnBytes: 48 * KIB,
  loneTurnBytes: 96 * KIB,
  sparseBytes: KIB,
  unsentCapBytes: 1024 * KIB,
};
const settings: SessionSettings = {
  ...DEFAULT_TIMES,
  tickMs: 1000,
  silenceTimeoutMs: Number.MAX_SAFE_INTEGER,
  syncIntervalMs: 4000,
  halfClosedIdleMs: 1_000_000,
  heldEndIdleMs: 20_000,
  flow,
};

type Side = 'client' | 'server';
type Command =
  | { readonly kind: 'open' | 'tick' }
  | {
      readonly kind: 'write';
      readonly side: Side;
      readonly stream: number;
      readonly length: number;
    }
  | {
      readonly kind: 'end' | 'stall' | 'read' | 'destroy';
      readonly side: Side;
      readonly stream: number;
    }
  | { readonly kind: 'flow' | 'handOn' | 'deliver'; readonly side: Side; readonly times: number }
  | { readonly kind: 'lose' | 'repeat'; readonly side: Side };

function weighted<T extends Command>(
  weight: number,
  fields: { [K in keyof T]: fc.Arbitrary<T[K]> },
): { weight: number; arbitrary: fc.Arbitrary<Command> } {
  return { weight, arbitrary: fc.record(fields) as unknown as fc.Arbitrary<Command> };
}

const side = fc.constantFrom<Side>('client', 'server');
const stream = fc.nat({ max: MOST_CHANNELS - 1 });
const times = fc.integer({ min: 1, max: 24 });
const command: fc.Arbitrary<Command> = fc.oneof(
  weighted(2, { kind: fc.constantFrom('open' as const, 'tick' as const) }),
  weighted(14, {
    kind: fc.constant('write' as const),
    side,
    stream,
    length: fc.oneof(
      fc.integer({ min: 1, max: 100 }),
      fc.integer({ min: 16 * KIB, max: MOST_WRITE }),
    ),
  }),
  weighted(3, {
    kind: fc.constantFrom('stall' as const, 'stall' as const, 'read' as const),
    side,
    stream,
  }),
  weighted(1, { kind: fc.constant('end' as const), side, stream }),
  weighted(8, {
    kind: fc.constantFrom('flow' as const, 'flow' as const, 'handOn' as const, 'deliver' as const),
    side,
    times,
  }),
  weighted(2, { kind: fc.constantFrom('lose' as const, 'repeat' as const), side }),
);
const destroy: fc.Arbitrary<Command> = fc.record({
  kind: fc.constant('destroy' as const),
  side,
  stream,
});

/** One end of a stream. Checks every received byte against its position. */
class End {
  received = 0;
  written = 0;
  ended = false;
  closed = false;
  error: Error | undefined;

  constructor(
    readonly stream: SessionStream,
    readonly seed: number,
    peerSeed: number,
  ) {
    // Both ends of every second stream declare that written buffers stay unchanged. `joinSocket` does this for a socket.
    stream.keepsWritten = seed % 2 === 1;
    stream.on('data', (chunk: Buffer) => {
      for (const byte of chunk) {
        if (byte !== patternAt(peerSeed, this.received))
          throw new Error(`wrong byte ${this.received}`);
        this.received += 1;
      }
    });
    stream.on('error', (error) => (this.error = error));
    stream.on('end', () => (this.ended = true));
    stream.on('close', () => (this.closed = true));
  }

  write(length: number): void {
    if (this.stream.writableNeedDrain || this.stream.writableEnded || this.stream.destroyed) return;
    const start = this.written;
    this.written += length;
    const bytes = Buffer.allocUnsafe(length);
    for (let index = 0; index < length; index += 1)
      bytes[index] = patternAt(this.seed, start + index);
    this.stream.write(bytes);
  }
}

function patternAt(seed: number, index: number): number {
  return (seed * 31 + index * 7 + (index >>> 8)) & 0xff;
}

class World {
  readonly links = { client: new MemoryLink(WIRE_MESSAGES), server: new MemoryLink(WIRE_MESSAGES) };
  readonly ends: Record<Side, End[]> = { client: [], server: [] };
  readonly client: Session;
  readonly server: Session;
  /** Bytes that arrived while a Pause was on its way. A schedule may keep a Pause back for ever, so only the caps bound them. */
  readonly #lateBytes = { client: 0, server: 0 };

  constructor(readonly legacy: boolean) {
    const none = (): void => undefined;
    this.server = new Session({
      role: {
        kind: 'server',
        admit: () => ({
          open: (stream) => {
            const index = this.ends.server.length;
            this.ends.server.push(new End(stream, 100 + index, index));
          },
        }),
        mostListed: 100,
      },
      transport: this.links.server,
      settings,
      onEnd: none,
      onIdle: none,
      onPeerNeverPauses: none,
    });
    this.client = new Session({
      role: { kind: 'client' },
      transport: this.links.client,
      settings,
      onEnd: none,
      onIdle: none,
      onPeerNeverPauses: none,
    });
    this.links.client.peer = this.server;
    this.links.server.peer = this.client;
    this.links.client.handOn();
    // A server that never gets the client's Hello acts as a peer without extensions.
    if (legacy) this.links.client.wire.shift();
  }

  /** Opens two streams, so that a short schedule reaches the interesting states. */
  async begin(): Promise<void> {
    await this.run({ kind: 'open' });
    await this.run({ kind: 'open' });
    for (const side of ['client', 'server'] as const)
      await this.run({ kind: 'flow', side, times: 4 });
  }

  async run(step: Command): Promise<void> {
    switch (step.kind) {
      case 'open':
        if (this.ends.client.length < MOST_CHANNELS) {
          const index = this.ends.client.length;
          this.ends.client.push(
            new End(this.client.connect('tcp/localhost:1'), index, 100 + index),
          );
        }
        break;
      case 'tick':
        this.tick();
        break;
      case 'write':
        this.ends[step.side][step.stream]?.write(step.length);
        break;
      case 'end':
        this.ends[step.side][step.stream]?.stream.end();
        break;
      case 'stall':
        this.ends[step.side][step.stream]?.stream.pause();
        break;
      case 'read':
        this.ends[step.side][step.stream]?.stream.resume();
        break;
      case 'destroy':
        this.ends[step.side][step.stream]?.stream.destroy();
        break;
      case 'flow':
        for (let count = 0; count < step.times; count += 1) {
          this.links[step.side].handOn();
          this.#deliver(step.side);
          await settle();
        }
        break;
      case 'handOn':
        for (let count = 0; count < step.times; count += 1) this.links[step.side].handOn();
        break;
      case 'deliver':
        for (let count = 0; count < step.times; count += 1) this.#deliver(step.side);
        break;
      case 'lose':
        this.links[step.side].toLose += 1;
        break;
      case 'repeat': {
        const { wire } = this.links[step.side];
        const next = wire[0];
        // A Connect repeated after the end of its stream would open a new stream.
        if (next !== undefined && !['data', 'sync', 'connect'].includes(decodeMessage(next).type))
          wire.unshift(next);
        break;
      }
    }
    await settle();
  }

  #deliver(from: Side): void {
    const to = from === 'client' ? 'server' : 'client';
    const { shared } = this[to];
    if (shared.totalBytes === 0) this.#lateBytes[to] = 0;
    const heldBytes = shared.totalBytes;
    const isPauseOnItsWay = this.links[to].carries('pause');
    this.links[from].deliver();
    if (isPauseOnItsWay) this.#lateBytes[to] += Math.max(0, shared.totalBytes - heldBytes);
  }

  tick(): void {
    this.client.tick(settings.tickMs);
    this.server.tick(settings.tickMs);
    // Simulates the answer to the ping, which arrives even while data waits for a reader.
    this.client.heard();
  }

  get heldBytes(): number {
    return Math.max(this.client.shared.totalBytes, this.server.shared.totalBytes);
  }

  /** Without the bytes that arrived while a Pause was on its way. */
  get heldInTimeBytes(): number {
    const of = (side: Side): number => this[side].shared.totalBytes - this.#lateBytes[side];
    return Math.max(of('client'), of('server'));
  }

  get allEnds(): End[] {
    return [...this.ends.client, ...this.ends.server];
  }

  /** Ends all writers, then lets readers and messages proceed until all streams have ended, for at most 400 rounds. */
  async heal(): Promise<void> {
    const links = Object.values(this.links);
    for (const link of links) link.toLose = 0;
    for (let round = 0; round < 400; round += 1) {
      for (const end of this.allEnds) {
        end.stream.resume();
        end.stream.end();
      }
      for (const link of links) {
        link.handOn();
        link.deliver();
      }
      await settle();
      if (links.every((link) => link.idle)) {
        for (const link of links) link.elapse();
        this.tick();
      }
      if (round > 0 && this.allEnds.every((end) => end.closed) && links.every((link) => link.idle))
        return;
    }
    throw new Error(`still open: ${JSON.stringify(this.allEnds.map((end) => end.stream.state))}`);
  }
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** The shared buffer, each stream's minimum share, and (the last two terms) the data that still arrives after a Pause. */
const MOST_HELD =
  flow.sharedBufferBytes +
  MOST_CHANNELS * flow.leastShareBytes +
  flow.inFlightBytes +
  (WIRE_MESSAGES + MOST_CHANNELS + 2) * 34 * KIB;

describe('two sessions over a transport that delays', () => {
  it('carry every byte once and in order, end every stream and hold no more than the limits', async () => {
    let pauses = 0;
    const rests = { idle: 0, turn: 0 };
    await fc.assert(
      fc.asyncProperty(
        fc.array(command, { minLength: 20, maxLength: 120, size: 'max' }),
        async (commands) => {
          const world = new World(false);
          await world.begin();
          let pausesLost = false;
          for (const step of commands) {
            pausesLost ||= step.kind === 'lose';
            await world.run(step);
            if (!pausesLost) expect(world.heldInTimeBytes).toBeLessThanOrEqual(MOST_HELD);
          }
          await world.heal();
          expect(world.ends.server.length).toBe(world.ends.client.length);
          world.ends.client.forEach((end, index) => {
            const other = world.ends.server[index];
            expect(other?.received).toBe(end.written);
            expect(end.received).toBe(other?.written);
          });
          for (const link of Object.values(world.links)) {
            pauses += link.sentTypes.get('pause') ?? 0;
            for (const kind of link.rests) rests[kind] += 1;
          }
          expect(world.client.streamCount + world.server.streamCount).toBe(0);
          expect(world.client.shared.totalBytes + world.server.shared.totalBytes).toBe(0);
        },
      ),
      EACH,
    );
    // The schedules are useful only if streams pause in them, and large messages wait in `rest`.
    for (const count of [pauses, rests.turn, rests.idle]) expect(count).toBeGreaterThan(RUNS / 2);
  });

  it('hold no more than the limits when readers stop for ever', async () => {
    const world = new World(false);
    for (let index = 0; index < MOST_CHANNELS; index += 1) await world.run({ kind: 'open' });
    await world.run({ kind: 'flow', side: 'client', times: 10 });
    for (let round = 0; round < 60; round += 1) {
      for (let index = 0; index < MOST_CHANNELS; index += 1) {
        await world.run({ kind: 'stall', side: 'server', stream: index });
        await world.run({ kind: 'write', side: 'client', stream: index, length: 64 * KIB });
      }
      await world.run({ kind: 'flow', side: 'client', times: 20 });
      await world.run({ kind: 'flow', side: 'server', times: 20 });
      await world.run({ kind: 'tick' });
    }
    expect(world.heldBytes).toBeGreaterThan(flow.sharedBufferBytes / 2);
    expect(world.heldBytes).toBeLessThanOrEqual(MOST_HELD);
    await world.heal();
  });

  it('leak nothing and confuse no bytes when streams are torn down at any moment', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.boolean(),
        fc.array(fc.oneof({ weight: 9, arbitrary: command }, { weight: 1, arbitrary: destroy }), {
          minLength: 20,
          maxLength: 120,
          size: 'max',
        }),
        async (legacy, commands) => {
          const world = new World(legacy);
          await world.begin();
          for (const step of commands) await world.run(step);
          await world.heal();
          expect(world.client.streamCount + world.server.streamCount).toBe(0);
          expect(world.client.shared.totalBytes + world.server.shared.totalBytes).toBe(0);
          expect([world.client.state.kind, world.server.state.kind]).toEqual(['open', 'open']);
        },
      ),
      EACH,
    );
  });

  it('bring the whole answer home when the peer knows no half-close', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(command, { minLength: 20, maxLength: 120, size: 'max' }),
        async (commands) => {
          const world = new World(true);
          await world.begin();
          for (const step of commands) await world.run(step);
          await world.heal();
          world.ends.client.forEach((end, index) => {
            expect(end.received).toBe(world.ends.server[index]?.written);
          });
        },
      ),
      EACH,
    );
  });
});
