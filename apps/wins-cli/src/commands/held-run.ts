import {
  WinsClientError,
  type CallOptions,
  type KeepAliveHandle,
  type ProcessName,
  type WinsClient,
} from '@wins/wins-api';
import { lastingRunsDefinition, type ProcessWaitResponse } from '@wins/wins-api/contract';
import { EXIT, messageOf } from '@wins/base';
import { setTimeout as delay } from 'node:timers/promises';
import { CommandError } from '../command-error.js';

const BETWEEN_MS = 200;

export interface HeldRun {
  /** Ends the lease, as {@link KeepAliveHandle.end} does, so that the daemon ends the run. */
  end: KeepAliveHandle['end'];
  /** Output and exit of the run. Iterate it once. */
  readonly output: AsyncIterable<ProcessWaitResponse>;
}

export function holdRun(client: WinsClient, name: ProcessName, options?: CallOptions): HeldRun {
  const lease = client.keepAlive(name, options);
  return { end: () => lease.end(), output: client.waitProcess(name, options) };
}

/** Holds a run across restarts of the daemon; waits up to `leaseMs` for each new daemon. Output then resumes without gaps or duplicates. */
export function holdThroughDaemons(
  client: WinsClient,
  name: ProcessName,
  leaseMs: number,
): HeldRun {
  let call = new AbortController();
  let lease = client.keepAlive(name, call);
  let isLetGo = false;
  const end: KeepAliveHandle['end'] = () => {
    isLetGo = true;
    return lease.end();
  };

  async function* read(): AsyncGenerator<ProcessWaitResponse> {
    let next = 0n;
    let lost: unknown;
    let deadline = Infinity;
    for (;;) {
      try {
        const { signal } = abortedWith(lease);
        const request = { Name: name.RunID, Offset: next, SinceMs: 0n, Follow: true } as const;
        const parts = client.stream(lastingRunsDefinition.read, request, { signal });
        for await (const { Offset, Options: part } of parts) {
          if (part?.$case === 'StdOut' || part?.$case === 'StdErr') {
            yield { Options: part };
            next = Offset + BigInt(part.value.length);
          } else if (part?.$case === 'Skipped') {
            yield { Options: { $case: 'Skipped', value: { Bytes: part.value } } };
            next = Offset + part.value;
          } else if (part?.$case === 'End' && part.value.Exit !== undefined) {
            yield { Options: { $case: 'Exit', value: part.value.Exit } };
            return;
          }
        }
      } catch (error) {
        if (!mayComeBack(error)) throw lost === undefined ? error : endedUnseen(name, error);
        if (wasThere(error)) deadline = Infinity;
        lost = error;
        // Abort the call of the lease, because a daemon that shuts down waits for open calls.
        call.abort();
      }
      deadline = Math.min(deadline, performance.now() + leaseMs);
      if (performance.now() > deadline) throw endedUnseen(name, lost);
      await delay(BETWEEN_MS);
      call = new AbortController();
      lease = client.keepAlive(name, call);
      if (isLetGo) void lease.end();
    }
  }
  return { end, output: read() };
}

/** Returns a CommandError, because after a WinsClientError the caller might start the run again. */
function endedUnseen({ Value }: ProcessName, cause: unknown): CommandError {
  const details = cause instanceof WinsClientError ? cause.details : messageOf(cause);
  // The daemon's message for `notFound` is not shown, because it quotes the secret id of the run.
  const isUnknown = cause instanceof WinsClientError && cause.code === 'notFound';
  const found = isUnknown ? 'the next daemon does not have this run' : details;
  const message = `the daemon ended, and the exit of ${Value} is unknown: ${found}`;
  return new CommandError(message, EXIT.client.failed, { cause });
}

/** Returns a controller that aborts the read when the lease loses its daemon. The run then needs a new lease. */
function abortedWith(lease: KeepAliveHandle): AbortController {
  const gone = new AbortController();
  lease.closed.catch((error: unknown) => {
    if (mayComeBack(error)) gone.abort(error);
  });
  return gone;
}

/** True when the daemon is shutting down or gone, so another one may start soon. */
function mayComeBack(error: unknown): boolean {
  return causeOf(error)?.code === 'unavailable';
}

/** True if a daemon was there: it was shutting down, it refused to process the request, or an open connection to it broke. */
export function wasThere(error: unknown): boolean {
  const cause = causeOf(error);
  const isRefused = cause?.reason === 'shuttingDown' || cause?.reason === 'streamRefused';
  return isRefused || cause?.connectionLost === true;
}

/** Returns `error`. If it reports an abort, returns the cause of the abort instead. Returns undefined for anything but a `WinsClientError`. */
function causeOf(error: unknown): WinsClientError | undefined {
  if (!(error instanceof WinsClientError)) return undefined;
  return error.code === 'aborted' ? causeOf(error.cause) : error;
}
