import type { MethodDefinition } from '@grpc/grpc-js';
import type { CallOptions } from './call-options.js';
import { WinsClientError } from './client-error.js';
import { runsDefinition } from './definitions/output-streams.js';
import type { ProcessName, ProcessWaitResponse, RunExit } from './gen/process.js';
import { RunOutput } from './gen/runs.js';
import type { KeepAliveHandle } from './keep-alive-handle.js';
import { causeOf, readThroughDaemons } from './runs/read-through-daemons.js';
import type { RunOutputPart } from './runs/runs-client.js';

/** A part of the output of a held process. The bytes are a view of a received message: copy bytes that you keep for long. */
export type HeldOutput =
  | { readonly stream: 'stdout' | 'stderr'; readonly bytes: Buffer }
  /** Number of bytes that were dropped. */
  | { readonly stream: 'skipped'; readonly bytes: number }
  /** How the program ended. No part follows. A Go daemon does not send it. */
  | ({ readonly stream: 'end' } & RunExit);

/** A process that this client keeps alive. */
export interface HeldProcess extends AsyncDisposable {
  /** Iterate it exactly once. The daemon pauses the program while parts are unread. */
  readonly output: AsyncIterable<HeldOutput>;
  /** Ends the lease, so that the daemon ends the process. Resolves as {@link KeepAliveHandle.end} does. */
  end(): ReturnType<KeepAliveHandle['end']>;
}

/** Options of `holdProcess`. */
export interface HoldOptions extends CallOptions {
  /**
   * Time for which the run waits for this client after the daemon has ended, as `onLease` receives it, in milliseconds. The client then awaits the
   * next daemon for this time, and the output resumes without gaps or duplicates. If none comes, `output` fails with `unknown`, because the exit is
   * unknown. Default 0: the output fails with `unavailable` when the daemon ends.
   */
  readonly leaseMs?: number | undefined;
}

interface Calls {
  readonly keepAlive: (name: ProcessName, options?: CallOptions) => KeepAliveHandle;
  readonly waitProcess: (
    name: ProcessName,
    options?: CallOptions,
  ) => AsyncIterable<ProcessWaitResponse>;
  readonly stream: <Request, Answer>(
    method: MethodDefinition<Request, Answer>,
    request: Request,
    options?: CallOptions,
  ) => AsyncIterable<Answer>;
}

export function holdProcess(
  calls: Calls,
  name: ProcessName,
  { leaseMs = 0, ...options }: HoldOptions = {},
): HeldProcess {
  if (leaseMs > 0) return holdThroughDaemons(calls, name, leaseMs, options.signal);
  const lease = calls.keepAlive(name, options);
  // Begins now, so that the daemon has this call before the lease can end: then it may forget a run that has ended.
  const messages = calls.waitProcess(name, options);
  const read = async function* (): AsyncGenerator<HeldOutput, void, void> {
    for await (const message of messages) {
      const part = partOf(message);
      if (part !== undefined) yield part;
    }
  };
  return { ...lease, output: read() };
}

function partOf({ options: message }: ProcessWaitResponse): HeldOutput | undefined {
  switch (message?.$case) {
    case 'stdOut':
      return { stream: 'stdout', bytes: message.value };
    case 'stdErr':
      return { stream: 'stderr', bytes: message.value };
    case 'skipped':
      return { stream: 'skipped', bytes: message.value.bytes };
    case 'exit':
      return { stream: 'end', ...message.value };
    default: // a message type of a newer daemon
      return undefined;
  }
}

function holdThroughDaemons(
  calls: Calls,
  name: ProcessName,
  leaseMs: number,
  signal: AbortSignal | undefined,
): HeldProcess {
  let call = new AbortController();
  const hold = (): KeepAliveHandle =>
    calls.keepAlive(name, { signal: eitherOf(call.signal, signal) });
  let lease = hold();
  let isLetGo = false;
  let isLost = false;
  const end = (): ReturnType<KeepAliveHandle['end']> => {
    isLetGo = true;
    return lease.end();
  };
  const read = async function* (): AsyncGenerator<RunOutputPart, void, void> {
    try {
      yield* readThroughDaemons(
        { name: name.runId, offset: 0, sinceMs: 0, follow: true, only: RunOutput.BOTH },
        {
          open: (request) => {
            if (isLost) {
              call.abort();
              call = new AbortController();
              lease = hold();
              if (isLetGo) void lease.end();
            }
            const gone = abortedWith(lease);
            return calls.stream(runsDefinition.read, request, {
              signal: eitherOf(gone, signal),
            });
          },
          reconnectTimeoutMs: leaseMs,
          // It has started the process.
          hasDaemon: true,
          onDaemonChange: (state) => {
            if (state === 'serving') return;
            isLost = true;
            // A daemon that shuts down waits for open calls.
            call.abort();
          },
          signal,
        },
      );
    } catch (error) {
      throw isLost && signal?.aborted !== true ? endedUnseen(name, error) : error;
    }
  };
  return {
    output: read(),
    end,
    [Symbol.asyncDispose]: async () => {
      await end();
    },
  };
}

function eitherOf(own: AbortSignal, signal: AbortSignal | undefined): AbortSignal {
  return signal === undefined ? own : AbortSignal.any([own, signal]);
}

function endedUnseen({ value }: ProcessName, cause: unknown): unknown {
  if (!(cause instanceof WinsClientError)) return cause;
  // The daemon's message for `notFound` is omitted, because it quotes the secret id of the run.
  const found =
    cause.code === 'notFound' ? 'the next daemon does not have this run' : cause.details;
  const details = `the daemon ended, and the exit of ${value} is unknown: ${found}`;
  return new WinsClientError('unknown', { details, cause });
}

/** Returns a signal that aborts the read when the lease loses its daemon. The run then needs a new lease. */
function abortedWith(lease: KeepAliveHandle): AbortSignal {
  const gone = new AbortController();
  lease.closed.catch((error: unknown) => {
    // The daemon is shutting down or gone, so another one may start soon.
    if (causeOf(error)?.code === 'unavailable') gone.abort(error);
  });
  return gone.signal;
}
