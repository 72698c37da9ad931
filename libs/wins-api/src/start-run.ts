import { quoteText } from '@wins/base';
import { Readable } from 'node:stream';
import { WinsClientError } from './client-error.js';
import type { ProcessName, RunExit } from './gen/process.js';
import type { HostRun, RunOptions } from './host-run.js';
import { startRequestOf } from './run-request.js';
import { UNKNOWN_EXIT } from './runs/runs-client.js';
import type { WinsClient } from './wins-client.js';

/** Longer than the daemon's grace time. */
const STOP_TIMEOUT_MS = 30_000;

type Calls = Pick<WinsClient, 'startProcess' | 'holdProcess' | 'runs'>;

/**
 * Starts a program. The request has digests of the local file, for the daemon to compare with the host's file.
 *
 * @throws WinsClientError `notFound` when this machine has no such program; `aborted`; any refusal of the daemon.
 */
export async function startRun(client: Calls, options: RunOptions): Promise<HostRun> {
  const { onWarning, signal, ...more } = options;
  const request = await startRequestOf(more);
  const name = await client.startProcess(request, {
    ...(onWarning && { onWarning }),
    signal,
  });
  /** Cuts off a program that does not end in time. */
  const late = new AbortController();
  const held = client.holdProcess(name, { signal: late.signal });
  const pid = await pidOf(client, name, signal);
  const outputs = { stdout: new OutputStream(), stderr: new OutputStream() };
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const discard = (): void => Object.values(outputs).forEach((output) => output.discard());
  const end = (): void => {
    if (isOver) return;
    discard();
    void held.end();
    timer ??= setTimeout(() => late.abort(signal?.reason), STOP_TIMEOUT_MS);
  };
  const toEnd = async (): Promise<RunExit> => {
    signal?.addEventListener('abort', end, { once: true });
    if (signal?.aborted === true) end();
    try {
      let exit = UNKNOWN_EXIT;
      for await (const part of held.output) {
        if (part.stream === 'end') exit = exitOf(part);
        else if (part.stream !== 'skipped') await outputs[part.stream].offer(part.bytes);
      }
      signal?.throwIfAborted();
      await held.end();
      for (const output of Object.values(outputs)) output.push(null);
      return exit;
    } catch (cause) {
      const error = signal?.aborted === true ? stoppedByCaller(name, signal) : cause;
      // Output that was cut off must not end like whole output.
      for (const output of Object.values(outputs)) output.destroy(error as Error);
      throw error;
    } finally {
      isOver = true;
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      void held.end();
    }
  };
  const exit = toEnd();
  exit.catch(() => undefined);
  const stop: HostRun['stop'] = async ({ force = false } = {}) => {
    discard();
    // The end of the lease stops a run that an older daemon cannot kill, or that has just ended.
    if (force && !isOver) await client.runs.stop(name, { force }).catch(ignore);
    end();
    return exit;
  };
  return {
    name: name.value,
    pid,
    ...outputs,
    exit,
    stop,
    [Symbol.asyncDispose]: () => stop().then(ignore, ignore),
  };
}

function stoppedByCaller({ value }: ProcessName, { reason }: AbortSignal): WinsClientError {
  const details = `the run ${quoteText(value)} was stopped by its caller`;
  return new WinsClientError('aborted', { details, cause: reason });
}

class OutputStream extends Readable {
  #readOn: () => void = ignore;
  #isDiscarded = false;

  override _read(): void {
    this.#readOn();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#readOn();
    // As for messages of node:http, nobody needs to listen for the error. A later reader learns that the output is cut off.
    done(this.listenerCount('error') > 0 ? error : null);
  }

  async offer(chunk: Uint8Array): Promise<void> {
    if (this.destroyed || this.#isDiscarded || this.push(chunk)) return;
    await new Promise<void>((resolve) => (this.#readOn = resolve));
  }

  discard(): void {
    this.#isDiscarded = true;
    this.#readOn();
  }
}

function exitOf({ exitCode, signal, reason }: RunExit): RunExit {
  return { exitCode, signal, reason };
}

function ignore(): void {
  // `exit` reports the failure.
}

/** Returns undefined for a run that has ended, after an abort, and with a Go daemon, which does not list runs. */
async function pidOf(
  client: Calls,
  name: ProcessName,
  signal: AbortSignal | undefined,
): Promise<number | undefined> {
  const runs = await client.runs.list({ signal }).catch(() => []);
  return runs.find(({ runId }) => runId === name.runId)?.pid;
}
