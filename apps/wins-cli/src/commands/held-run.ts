import {
  WinsClientError,
  type KeepAliveHandle,
  type ProcessName,
  type WinsClient,
} from '@wins/wins-api';
import { lastingRunsDefinition, type ProcessWaitResponse } from '@wins/wins-api/contract';
import { EXIT, messageOf } from '@wins/base';
import { setTimeout as delay } from 'node:timers/promises';
import { CommandError } from '../command-error.js';

const BETWEEN_MS = 200;

/** A run that its client holds, and what it writes. */
export interface HeldRun {
  /** Lets go: the run is asked to end. Resolves when the daemon has answered. */
  end(): Promise<void>;
  /** Its output and how it ended. Iterate it once. */
  readonly output: AsyncIterable<ProcessWaitResponse>;
}

/** Holds a run that ends with its daemon. */
export function holdRun(client: WinsClient, name: ProcessName): HeldRun {
  const lease = client.keepAlive(name);
  return { end: () => lease.end(), output: client.waitProcess(name) };
}

/**
 * Holds a run through one daemon and the next, each of which is waited for until the run has to end without its client. Each goes on with the
 * output where the one before it was: nothing is missing, and nothing comes twice.
 */
export function holdThroughDaemons(
  client: WinsClient,
  name: ProcessName,
  leaseMs: number,
): HeldRun {
  let call = new AbortController();
  let lease = client.keepAlive(name, call);
  let isLetGo = false;
  const end = (): Promise<void> => {
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
        // A daemon that ends waits for its calls.
        call.abort();
      }
      deadline = Math.min(deadline, performance.now() + leaseMs);
      if (performance.now() > deadline) throw endedUnseen(name, lost);
      await delay(BETWEEN_MS);
      call = new AbortController();
      lease = client.keepAlive(name, call);
      if (isLetGo) lease.end().catch(() => undefined);
    }
  }
  return { end, output: read() };
}

/** An error of a call would have the run started again. */
function endedUnseen({ Value }: ProcessName, cause: unknown): CommandError {
  const details = cause instanceof WinsClientError ? cause.details : messageOf(cause);
  // The daemon quotes the name that it did not find, which is the secret id of the run.
  const isUnknown = cause instanceof WinsClientError && cause.code === 'notFound';
  const found = isUnknown ? 'the next one does not have it' : details;
  const message = `the daemon ended, and how ${Value} ended is unknown: ${found}`;
  return new CommandError(message, EXIT.client.failed, { cause });
}

/** Ends with a lease that is lost with its daemon: who reads on without it would see the run end. */
function abortedWith(lease: KeepAliveHandle): AbortController {
  const gone = new AbortController();
  lease.closed.catch((error: unknown) => {
    if (mayComeBack(error)) gone.abort(error);
  });
  return gone;
}

/** Whether a daemon ends, or has ended: then there may be another one soon. */
function mayComeBack(error: unknown): boolean {
  return causeOf(error)?.code === 'unavailable';
}

/** Whether there was a daemon until now. */
export function wasThere(error: unknown): boolean {
  const cause = causeOf(error);
  return cause?.connectionLost === true || cause?.reason === 'shuttingDown';
}

/** A call that ended with the lease has the reason of that. */
function causeOf(error: unknown): WinsClientError | undefined {
  if (!(error instanceof WinsClientError)) return undefined;
  return error.code === 'aborted' ? causeOf(error.cause) : error;
}
