import { reporter } from '@wins/base';
import { setTimeout as delay } from 'node:timers/promises';
import { WinsClientError } from '../client-error.js';
import type { RunReadRequest, RunReadResponse } from '../gen/runs.js';
import type { RunOutputPart, RunWaitOptions } from './runs-client.js';

const BETWEEN_MS = 200;
/** A daemon that served a call for this time counts as having come back. */
const SERVED_MS = 1000;

export interface Reading extends RunWaitOptions {
  /** Sends the request to the daemon, and again to each next one. */
  readonly open: (request: RunReadRequest) => AsyncIterable<RunReadResponse>;
  readonly reconnectTimeoutMs: number;
  /** True when a daemon has already served the run, so that the next one may be awaited. */
  readonly hasDaemon: boolean;
}

/** Reads the output of a run in a keeper. With `follow`, continues through restarts of the daemon, without gaps or duplicates. */
export async function* readThroughDaemons(
  request: RunReadRequest,
  { open, reconnectTimeoutMs, signal, onDaemonChange, ...reading }: Reading,
): AsyncGenerator<RunOutputPart, void, void> {
  /** Offset of the first byte that was not yielded; undefined before the first answer. */
  let next: number | undefined;
  let { hasDaemon } = reading;
  let deadline = Infinity;
  let state: 'serving' | 'gone' | undefined;
  const report = reporter(onDaemonChange);
  const become = (found: 'serving' | 'gone'): void => {
    if (found !== state) report((state = found));
  };
  for (;;) {
    const beganMs = performance.now();
    let lost: unknown;
    try {
      const rest = { offset: next ?? 0, sinceMs: 0, tailLines: undefined };
      for await (const message of open(next === undefined ? request : { ...request, ...rest })) {
        become('serving');
        hasDaemon = true;
        deadline = Infinity;
        const part = partOf(message);
        if (part?.stream !== 'end') next = message.offset;
        // Without a part, the message tells only where the output begins.
        if (part === undefined) continue;
        yield part;
        if (part.stream === 'end') return;
        next = part.offset + (typeof part.bytes === 'number' ? part.bytes : part.bytes.length);
      }
      if (!request.follow) return;
      const details = 'the daemon ended the output before the end of the run';
      lost = new WinsClientError('unavailable', { method: 'Read', details });
    } catch (error) {
      const cause = causeOf(error);
      const isGone = cause?.isDaemonLost === true;
      const isAwaited = isGone || (hasDaemon && cause?.code === 'unavailable');
      if (signal?.aborted === true || !request.follow || !isAwaited) throw error;
      lost = error;
      hasDaemon = true;
      if (isGone && performance.now() - beganMs > SERVED_MS) deadline = Infinity;
    }
    become('gone');
    const nowMs = performance.now();
    deadline = Math.min(deadline, nowMs + reconnectTimeoutMs);
    if (nowMs >= deadline) throw lost;
    await delay(BETWEEN_MS, undefined, { signal }).catch(() => undefined);
  }
}

function partOf({
  offset,
  writtenAtMs,
  options: part,
}: RunReadResponse): RunOutputPart | undefined {
  switch (part?.$case) {
    case 'end':
      return { stream: 'end', ...part.value };
    case 'skipped':
      return { stream: 'skipped', offset, bytes: part.value };
    case 'stdOut':
      return { stream: 'stdout', offset, writtenAt: new Date(writtenAtMs), bytes: part.value };
    case 'stdErr':
      return { stream: 'stderr', offset, writtenAt: new Date(writtenAtMs), bytes: part.value };
    default:
      return undefined;
  }
}

/** Returns `error`. If it reports an abort, returns the cause of the abort instead. Returns undefined for anything but a `WinsClientError`. */
export function causeOf(error: unknown): WinsClientError | undefined {
  if (!(error instanceof WinsClientError)) return undefined;
  return error.code === 'aborted' ? causeOf(error.cause) : error;
}
