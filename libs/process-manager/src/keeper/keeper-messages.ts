/**
 * Protocol between a daemon and a keeper: JSON messages, each after its length in four bytes. The daemon speaks first, with the token and the
 * protocol version. A keeper also serves daemons of the next release, so a daemon must speak the previous version too. Unknown fields are ignored; a
 * larger change needs a new version.
 */
import { STOP_SIGNALS } from '@wins/base';
import type { Socket } from 'node:net';
import * as z from 'zod/mini';
import { EXIT_REASONS } from '../supervision/managed-process.js';
import { detachedRecord, mark, runEnd, runFigures, treeLimits } from '../supervision/run-record.js';

export const KEEPER_PROTOCOL = 2;
/** Reasons of `refused` after which a daemon retries. */
export const ANOTHER_DAEMON = 'another daemon is connected';
export const ENDING = 'it ends';
/** Maximum message size: enough for any client request, even if JSON doubles its size. */
const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;
const LENGTH_BYTES = 4;

const text = z.string();
const id = z.int().check(z.minimum(1));

const reason = z.enum(EXIT_REASONS);

const command = z.object({
  mark,
  lineage: text,
  file: text,
  argv0: text,
  args: z.array(text),
  directory: text,
  env: z.record(text, text),
  mayBreakAway: z.boolean(),
  limits: z.optional(treeLimits),
  stop: z.optional(
    z.object({
      signal: z.optional(z.enum([...STOP_SIGNALS.posix, ...STOP_SIGNALS.windows])),
      event: z.optional(text),
    }),
  ),
});

export const daemonMessage = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('hello'), protocol: z.int(), token: text }),
  z.object({
    kind: z.literal('start'),
    id,
    command,
    /** Time between asking a run to end and killing it. */
    graceMs: z.int().check(z.minimum(0)),
    run: z.omit(detachedRecord, {
      supervisor: true,
      pid: true,
      startToken: true,
      startedAtMs: true,
    }),
  }),
  /** Ends all runs, and then the keeper. */
  z.object({ kind: z.literal('endAll') }),
  /** Ends a run. `force` kills it without the grace time. */
  z.object({ kind: z.literal('end'), mark, reason, force: z.boolean() }),
  /** Answered by `measured`. */
  z.object({ kind: z.literal('measure'), id, mark }),
  /** The daemon has read the output before this offset. Also cancels the `leaseMs` timer, so a daemon sends offset 0 when it adopts a held run. */
  z.object({ kind: z.literal('read'), mark, offset: z.int().check(z.minimum(0)) }),
]);

export type DaemonMessage = z.infer<typeof daemonMessage>;

export const keeperMessage = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('welcome'), protocol: z.int(), runs: z.array(mark) }),
  z.object({ kind: z.literal('refused'), why: text }),
  z.object({
    kind: z.literal('started'),
    id,
    pid: z.int(),
    startToken: text,
    startedAtMs: z.int(),
  }),
  /** Nothing was started; another keeper must start the run. */
  z.object({ kind: z.literal('ending'), id }),
  z.object({ kind: z.literal('failed'), id, code: text, message: text }),
  z.object({ kind: z.literal('measured'), id, figures: z.optional(runFigures) }),
  z.object({
    kind: z.literal('moved'),
    mark,
    state: z.object({ kind: z.enum(['stopping', 'killing', 'draining']), reason }),
  }),
  /** More output can be read. */
  z.object({ kind: z.literal('written'), mark }),
  /** The run has ended, and `end` is recorded. */
  z.object({
    kind: z.literal('ended'),
    end: runEnd,
    mark,
    isGone: z.boolean(),
    isCutOff: z.boolean(),
  }),
]);

export type KeeperMessage = z.infer<typeof keeperMessage>;

export interface MessageEnd<Sent> {
  send(message: Sent): void;
  close(): void;
}

/** Splits input into messages. Copies only those that come in several chunks, each byte once, however small the chunks are. */
class MessageReader {
  readonly #length = Buffer.alloc(LENGTH_BYTES);
  #lengthBytes = 0;
  #body: Buffer | undefined;
  #bodyBytes = 0;

  /** @throws RangeError, SyntaxError, or what `take` throws. */
  read(chunk: Buffer, take: (message: unknown) => void): void {
    for (let at = 0; at < chunk.length;) {
      if (this.#body === undefined) {
        const end = at + LENGTH_BYTES - this.#lengthBytes;
        const copied = chunk.copy(this.#length, this.#lengthBytes, at, end);
        at += copied;
        this.#lengthBytes += copied;
        if (this.#lengthBytes < LENGTH_BYTES) return;
        const sizeBytes = this.#length.readUInt32BE();
        if (sizeBytes > MAX_MESSAGE_BYTES) throw new RangeError('a message is too long');
        const whole = chunk.subarray(at, at + sizeBytes);
        if (whole.length === sizeBytes) {
          at += sizeBytes;
          this.#lengthBytes = 0;
          take(JSON.parse(whole.toString()));
          continue;
        }
        this.#body = Buffer.allocUnsafeSlow(sizeBytes);
        this.#bodyBytes = 0;
      }
      const copied = chunk.copy(this.#body, this.#bodyBytes, at);
      at += copied;
      this.#bodyBytes += copied;
      if (this.#bodyBytes < this.#body.length) return;
      const text = this.#body.toString();
      this.#body = undefined;
      this.#lengthBytes = 0;
      take(JSON.parse(text));
    }
  }
}

/** Destroys the socket at the first message that is too long or invalid. */
export function speakMessages<Received, Sent extends object>(
  socket: Socket,
  shape: z.ZodMiniType<Received>,
  received: (message: Received) => void,
  closed: () => void,
): MessageEnd<Sent> {
  const messages = new MessageReader();
  socket.on('data', (chunk: Buffer) => {
    try {
      messages.read(chunk, (json) => received(shape.parse(json)));
    } catch {
      socket.destroy();
    }
  });
  socket.on('error', () => undefined);
  socket.once('close', closed);
  return {
    send: (message) => {
      if (!socket.writable) return;
      const bytes = Buffer.from(`${' '.repeat(LENGTH_BYTES)}${JSON.stringify(message)}`);
      bytes.writeUInt32BE(bytes.length - LENGTH_BYTES);
      socket.write(bytes);
    },
    close: () => socket.destroy(),
  };
}
