import { hashFile, TrustedFileError } from '@wins/trusted-files';
import { quoteText } from '@wins/wins-program';
import path from 'node:path';
import { WinsClientError } from './client-error.js';
import type { ProcessExit } from './gen/process.js';
import type { ProcessResult, RunProcessOptions } from './run-process-options.js';
import type { WinsClient } from './wins-client.js';

/** How long a program that is stopped may take to end, in milliseconds: longer than the daemon lets it. */
const STOP_TIMEOUT_MS = 30_000;

/**
 * Runs a program: compares it by its digests, keeps the lease, gives the output on, and lets go.
 *
 * @throws WinsClientError `notFound` without such a program here; `aborted` after an abort; all that the daemon refuses.
 */
export async function runToEnd(
  client: Pick<WinsClient, 'startProcess' | 'keepAlive' | 'waitProcess'>,
  options: RunProcessOptions,
): Promise<ProcessResult> {
  const { args = [], envs = {}, directory, onStdout, onStderr, signal } = options;
  const program = path.resolve(options.path);
  const checkAborted = (): void => {
    if (signal?.aborted !== true) return;
    const details = `the run of ${quoteText(program)} was stopped by its caller`;
    throw new WinsClientError('aborted', { details, cause: signal.reason });
  };
  checkAborted();
  const request = {
    Path: program,
    Args: [...args],
    Envs: Object.entries(envs).map(variable),
    Dir: directory === undefined ? path.dirname(program) : path.resolve(directory),
    ...(await digestsOf(program)),
  };
  checkAborted();
  const name = await client.startProcess(request, signal === undefined ? {} : { signal });
  const lease = client.keepAlive(name);
  const late = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const stop = (): void => {
    lease.end().catch(() => undefined);
    timer = setTimeout(() => late.abort(), STOP_TIMEOUT_MS);
  };
  signal?.addEventListener('abort', stop, { once: true });
  if (signal?.aborted === true) stop();
  try {
    let exit: ProcessExit | undefined;
    for await (const { Options: message } of client.waitProcess(name, { signal: late.signal })) {
      if (message?.$case === 'StdOut') await onStdout?.(message.value);
      if (message?.$case === 'StdErr') await onStderr?.(message.value);
      if (message?.$case === 'Exit') exit = message.value;
    }
    checkAborted();
    // The program has ended: how its lease ends changes nothing of that. A Go daemon fails it when its clean-up fails.
    await lease.end().catch(() => undefined);
    return resultOf(exit);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
    lease.end().catch(() => undefined);
  }
}

function variable([name, value]: readonly [string, string]): string {
  if (name !== '' && !name.includes('=')) return `${name}=${value}`;
  throw new WinsClientError('invalidRequest', {
    details: `cannot set the variable ${quoteText(name)}: wanted a name that is not empty and has no "="`,
  });
}

async function digestsOf(program: string) {
  try {
    const { sha1, sha256 } = await hashFile(program, ['sha1', 'sha256'], { followLinks: true });
    return { Checksum: sha1, ChecksumSHA256: sha256 };
  } catch (error) {
    if (!(error instanceof TrustedFileError)) throw error;
    const isMissing = error.code === 'notFound' || error.code === 'notRegularFile';
    throw new WinsClientError(isMissing ? 'notFound' : 'invalidRequest', {
      details: `${error.message}; the program must be at the same path here and on the host`,
      cause: error,
    });
  }
}

function resultOf(exit: ProcessExit | undefined): ProcessResult {
  if (exit === undefined) return { exitCode: undefined, signal: undefined, reason: 'unknown' };
  const { Code, Signal, Reason } = exit;
  if (Signal !== '') return { exitCode: undefined, signal: Signal, reason: Reason };
  return { exitCode: Code, signal: undefined, reason: Reason };
}
