import {
  WinsClientError,
  type CallOptions,
  type KeepAliveHandle,
  type ProcessExit,
  type ProcessName,
  type WinsClient,
} from '@wins/wins-api';
import type { ProcessWaitResponse } from '@wins/wins-api/contract';
import { EXIT, messageOf } from '@wins/base';
import { CommandError } from '../command-error.js';
import type { RunPart, TakePart } from './print-output.js';
import { causeOf, readThroughDaemons, WHOLE_OUTPUT } from './read-through-daemons.js';

export interface HeldRun {
  /** Ends the lease, as {@link KeepAliveHandle.end} does, so that the daemon ends the run. */
  readonly end: KeepAliveHandle['end'];
  /** Reads the output to its end, or until `take` resolves with false. Resolves with the exit, if the daemon reports one. Call it once. */
  readonly read: (take: TakePart) => Promise<ProcessExit | undefined>;
}

export function holdRun(client: WinsClient, name: ProcessName, options?: CallOptions): HeldRun {
  const lease = client.keepAlive(name, options);
  const read: HeldRun['read'] = async (take) => {
    let exit: ProcessExit | undefined;
    for await (const { options: message } of client.waitProcess(name, options)) {
      if (message?.$case === 'exit') exit = message.value;
      const part = partOf(message);
      if (part !== undefined && !(await take(part))) break;
    }
    return exit;
  };
  return { end: () => lease.end(), read };
}

function partOf(message: ProcessWaitResponse['options']): RunPart | undefined {
  switch (message?.$case) {
    case 'stdOut':
      return { stream: 'stdout', bytes: message.value, timeMs: 0 };
    case 'stdErr':
      return { stream: 'stderr', bytes: message.value, timeMs: 0 };
    case 'skipped':
      return { stream: 'skipped', bytes: message.value.bytes };
    default: // the exit, or a message type of a newer daemon
      return undefined;
  }
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
  let isLost = false;
  const end: KeepAliveHandle['end'] = () => {
    isLetGo = true;
    return lease.end();
  };
  const read: HeldRun['read'] = async (take) => {
    const request = { ...WHOLE_OUTPUT, name: name.runId };
    const daemons = {
      connect: async (
        serve: (client: WinsClient, answered: () => void, signal: AbortSignal) => Promise<void>,
      ): Promise<void> => {
        if (isLost) {
          call = new AbortController();
          lease = client.keepAlive(name, call);
          if (isLetGo) void lease.end();
        }
        await serve(client, () => undefined, abortedWith(lease));
      },
      waitMs: leaseMs,
      mayComeBack,
      lost: (error: unknown) => endedUnseen(name, error),
      onLost: () => {
        isLost = true;
        // A daemon that shuts down waits for open calls.
        call.abort();
      },
    };
    return (await readThroughDaemons(daemons, request, take))?.exit;
  };
  return { end, read };
}

/** Returns a CommandError, because after a WinsClientError the caller might start the run again. */
function endedUnseen({ value }: ProcessName, cause: unknown): CommandError {
  const details = cause instanceof WinsClientError ? cause.details : messageOf(cause);
  // The daemon's message for `notFound` is not shown, because it quotes the secret id of the run.
  const isUnknown = cause instanceof WinsClientError && cause.code === 'notFound';
  const found = isUnknown ? 'the next daemon does not have this run' : details;
  const message = `the daemon ended, and the exit of ${value} is unknown: ${found}`;
  return new CommandError(message, EXIT.client.failed, { cause });
}

/** Returns a signal that aborts the read when the lease loses its daemon. The run then needs a new lease. */
function abortedWith(lease: KeepAliveHandle): AbortSignal {
  const gone = new AbortController();
  lease.closed.catch((error: unknown) => {
    if (mayComeBack(error)) gone.abort(error);
  });
  return gone.signal;
}

/** True when the daemon is shutting down or gone, so another one may start soon. */
function mayComeBack(error: unknown): boolean {
  return causeOf(error)?.code === 'unavailable';
}
