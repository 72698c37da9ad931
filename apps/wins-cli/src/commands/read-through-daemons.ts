import { WinsClientError, type ProcessExit, type WinsClient } from '@wins/wins-api';
import {
  detachedRunsDefinition,
  RunOutput,
  type DetachedReadRequest,
} from '@wins/wins-api/contract';
import { setTimeout as delay } from 'node:timers/promises';
import type { RunPart, TakePart } from './print-output.js';

const BETWEEN_MS = 200;
/** A daemon that served a call for this time counts as having come back. */
const SERVED_MS = 1000;

/** From the oldest byte to the end of the run. */
export const WHOLE_OUTPUT: Omit<DetachedReadRequest, 'name'> = {
  offset: 0,
  sinceMs: 0,
  tailLines: undefined,
  follow: true,
  only: RunOutput.BOTH,
};

export interface ReadingEnd {
  /** Undefined if the run goes on, or its exit is unknown. */
  readonly exit: ProcessExit | undefined;
}

export interface Daemons {
  /** Connects to the daemon, and again to each next one. `read` calls `answered` for each answer, and resolves also if a daemon that was there failed. */
  readonly connect: (
    read: (client: WinsClient, answered: () => void, signal?: AbortSignal) => Promise<void>,
  ) => Promise<void>;
  /** Time for which a next daemon is awaited. */
  readonly waitMs: number;
  /** Whether a next daemon may serve the run after this failure. */
  readonly mayComeBack: (error: unknown) => boolean;
  /** Returns the error for a run whose daemon did not come back. Default: the error itself. */
  readonly lost?: (error: unknown) => unknown;
  /** Called before waiting for the next daemon. */
  readonly onLost?: () => void;
}

interface ReadState {
  /** Offset of the first byte that has not been taken; undefined before the first answer. */
  next?: number;
  end?: ReadingEnd;
  /** True once no more is wanted. */
  isOver: boolean;
}

/**
 * Reads the output of a run in a keeper. Continues through restarts of the daemon, without gaps or duplicates.
 *
 * @param gone - Aborts when nobody takes the output any more.
 */
export async function readThroughDaemons(
  daemons: Daemons,
  request: DetachedReadRequest,
  take: TakePart,
  gone?: AbortSignal,
): Promise<ReadingEnd | undefined> {
  const state: ReadState = { isOver: false };
  let deadline = Infinity;
  let lost: unknown;
  const read = async (
    client: WinsClient,
    answered: () => void,
    signal?: AbortSignal,
  ): Promise<void> => {
    const rest = { offset: state.next ?? 0, sinceMs: 0, tailLines: undefined };
    const signals = [gone, signal].filter((each) => each !== undefined);
    const parts = client.stream(
      detachedRunsDefinition.read,
      state.next === undefined ? request : { ...request, ...rest },
      { signal: AbortSignal.any(signals) },
    );
    for await (const { offset, writtenAtMs, options: part } of parts) {
      answered();
      deadline = Infinity;
      if (part?.$case === 'end') {
        state.end = { exit: part.value.exit };
        continue;
      }
      state.next = offset;
      // Without a part, the message tells only where the output begins.
      if (part === undefined) continue;
      const bytes = part.value;
      const stream = part.$case === 'stdOut' ? 'stdout' : 'stderr';
      const found: RunPart =
        typeof bytes === 'number'
          ? { stream: 'skipped', bytes }
          : { stream, bytes, timeMs: writtenAtMs };
      state.isOver = !(await take(found));
      if (state.isOver) return;
      state.next += typeof bytes === 'number' ? bytes : bytes.length;
    }
  };
  for (;;) {
    try {
      await daemons.connect(async (client, answered, signal) => {
        const beganMs = performance.now();
        try {
          await read(client, answered, signal);
        } catch (error) {
          const isAwaited = request.follow && wasThere(error);
          if (gone?.aborted !== true && !isAwaited) throw error;
          lost = error;
          if (performance.now() - beganMs > SERVED_MS) deadline = Infinity;
        }
      });
      if (state.end !== undefined || state.isOver || gone?.aborted === true) return state.end;
      if (!request.follow) return undefined;
    } catch (error) {
      if (gone?.aborted === true) return undefined;
      if (!request.follow || !daemons.mayComeBack(error))
        throw lost === undefined ? error : (daemons.lost?.(error) ?? error);
      lost = error;
    }
    daemons.onLost?.();
    const nowMs = performance.now();
    deadline = Math.min(deadline, nowMs + daemons.waitMs);
    if (nowMs > deadline) throw daemons.lost?.(lost) ?? lost;
    await delay(BETWEEN_MS, undefined, gone && { signal: gone }).catch(() => undefined);
  }
}

/** True if a daemon was there: it was shutting down, it refused to process the request, or an open connection to it broke. */
export function wasThere(error: unknown): boolean {
  const cause = causeOf(error);
  const isRefused = cause?.reason === 'shuttingDown' || cause?.reason === 'streamRefused';
  return isRefused || cause?.connectionLost === true;
}

/** Returns `error`. If it reports an abort, returns the cause of the abort instead. Returns undefined for anything but a `WinsClientError`. */
export function causeOf(error: unknown): WinsClientError | undefined {
  if (!(error instanceof WinsClientError)) return undefined;
  return error.code === 'aborted' ? causeOf(error.cause) : error;
}
