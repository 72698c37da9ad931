import type { PipeServerCheck } from '@wins/base';
import { Backoff, systemClock } from '@wins/time';
import { connect, type Socket } from 'node:net';
import { abortedError, describePipeError, pipeErrorFrom } from './node-errors.js';
import { PipeError, wholeNumber } from './pipe-error.js';
import { resolvePipePath, type PipePath } from './pipe-path.js';

/** Options of {@link connectPipe}. */
export interface ConnectPipeOptions {
  /** Time-out for an existing pipe, in milliseconds. Default 5000. */
  readonly timeoutMs?: number | undefined;
  /** Time to wait for a missing pipe, in milliseconds. Default 0: no wait. */
  readonly waitTimeoutMs?: number | undefined;
  /** Directory for bare names on POSIX. Default: `runtimeDirectory()` of `@wins/base`. */
  readonly runtimeDir?: string | undefined;
  /** Opens the connection and verifies the server. Default: any server is trusted. */
  readonly security?: PipeServerCheck | undefined;
  /** Source of jitter between attempts. Default: `Math.random`. */
  readonly random?: (() => number) | undefined;
  /** Cancels the call, which rejects with `aborted`. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Connects to a pipe and returns the unread socket, which the caller closes.
 *
 * Retries a pipe that is missing, unserved or just closed for `waitTimeoutMs`, and a busy pipe for `timeoutMs`. An error after the
 * connection makes the socket emit `close`, and does not end the process, even without an error listener.
 *
 * @param name see {@link resolvePipePath}.
 * @throws {@link PipeError} `notFound`, `closed` or `busy` when the time is over; `timeout` when the operating system did not
 * answer; `securityUnavailable` when `security` does not trust the server; `accessDenied`; `invalidName`;
 * `aborted` by `signal`; `unknown`. RangeError for a time that is not a whole number.
 */
export async function connectPipe(name: string, options: ConnectPipeOptions = {}): Promise<Socket> {
  const path = resolvePipePath(name, { runtimeDir: options.runtimeDir });
  const timeoutMs = wholeNumber('timeoutMs', options.timeoutMs ?? 5000, 1);
  const waitTimeoutMs = wholeNumber('waitTimeoutMs', options.waitTimeoutMs ?? 0, 0);
  // Full jitter, so that clients of one daemon do not reconnect at the same instant.
  const { random = Math.random } = options;
  const backoff = new Backoff({ initialMs: 20, maxMs: 1_000, jitter: 1, random });
  const waitDeadline = performance.now() + waitTimeoutMs;
  let busyDeadline = performance.now() + timeoutMs;
  for (;;) {
    if (options.signal?.aborted) throw abortedError('connect to', path, options.signal);
    try {
      return await dial(path, busyDeadline - performance.now(), options);
    } catch (error) {
      const code = error instanceof PipeError ? error.code : undefined;
      // A listener that ends closes the connections that it has not accepted yet.
      const isMissing = code === 'notFound' || code === 'closed';
      if (!isMissing && code !== 'busy') throw error;
      const now = performance.now();
      const leftMs = (isMissing ? waitDeadline : busyDeadline) - now;
      if (leftMs <= 0) throw error;
      // The time-out for a busy pipe starts when the pipe exists.
      if (isMissing) busyDeadline = now + timeoutMs;
      const waitMs = Math.min(backoff.nextMs(), leftMs);
      await systemClock.wait(waitMs, { signal: options.signal }).catch(() => undefined);
    }
  }
}

async function dial(
  path: PipePath,
  timeoutMs: number,
  { signal, security = PLAIN }: ConnectPipeOptions,
): Promise<Socket> {
  const attempt = new AbortController();
  const onAbort = (): void => {
    if (signal !== undefined) attempt.abort(abortedError('connect to', path, signal));
  };
  const onTimeout = (): void =>
    attempt.abort(describePipeError('timeout', 'connect to', path, 'it did not answer in time'));
  const timer = setTimeout(onTimeout, Math.max(1, timeoutMs));
  signal?.addEventListener('abort', onAbort);
  try {
    const socket = await unlessAborted(
      security.open(path, { signal: attempt.signal }),
      attempt.signal,
    );
    socket.on('error', () => undefined);
    return socket;
  } catch (error) {
    throw pipeErrorFrom(attempt.signal.aborted ? attempt.signal.reason : error, 'connect to', path);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}

/** Rejects when the signal aborts first, and then destroys a socket that arrives later. */
async function unlessAborted(opening: Promise<Socket>, signal: AbortSignal): Promise<Socket> {
  let onAbort: () => void = () => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => {
      // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- it is a PipeError
      reject(signal.reason);
      opening.then(
        (socket) => socket.on('error', () => undefined).destroy(),
        () => undefined,
      );
    };
    signal.addEventListener('abort', onAbort);
  });
  try {
    return await Promise.race([opening, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

const PLAIN: PipeServerCheck = {
  open: (path, { signal }) =>
    new Promise((resolve, reject) => {
      const socket = connect({ path: path.address });
      const onAbort = (): void => void socket.destroy();
      signal.addEventListener('abort', onAbort);
      socket.on('error', reject);
      socket.on('connect', () => {
        signal.removeEventListener('abort', onAbort);
        socket.off('error', reject);
        socket.on('error', () => undefined);
        resolve(socket);
      });
    }),
};
