import { quoteText } from '@wins/base';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { systemPath } from '../win32/calls/system-library.js';
import { WindowsError } from '../windows-error.js';

// What is run here takes a fraction of a second, unless a service behind it is starting.
const LIMIT_MS = 30_000;
const MAX_OUTPUT_BYTES = 64 * 1024;

/**
 * Runs a program of System32 by its absolute path, without a shell, with little of an environment, for at most 30 seconds.
 *
 * @param name such as `netsh.exe`.
 * @throws WindowsError `unavailable`, `timeout`, `unknown` when it does not end with 0; the signal's reason when it aborts,
 * which ends the program.
 */
export async function runSystemProgram(
  name: string,
  args: readonly string[],
  signal?: AbortSignal,
): Promise<void> {
  signal?.throwIfAborted();
  const file = systemPath(name);
  const directory = path.win32.dirname(file);
  const SystemRoot = path.win32.dirname(directory);
  await new Promise<void>((resolve, reject) => {
    const options = {
      cwd: directory,
      env: { SystemRoot, windir: SystemRoot, PATH: directory },
      killSignal: 'SIGKILL',
      maxBuffer: MAX_OUTPUT_BYTES,
      timeout: LIMIT_MS,
      windowsHide: true,
      ...(signal === undefined ? {} : { signal }),
    } as const;
    execFile(file, args, options, (error, stdout) => {
      if (error === null) resolve();
      else if (signal?.aborted === true) reject(signal.reason as Error);
      else reject(failure(`cannot run ${file} ${args.join(' ')}`, error, stdout));
    });
  });
}

function failure(
  tried: string,
  cause: Error & { readonly code?: unknown; readonly killed?: boolean },
  stdout: string,
): WindowsError {
  if (cause.code === 'ENOENT') {
    return new WindowsError('unavailable', `${tried}: it does not exist`, { cause });
  }
  if (cause.killed === true) {
    return new WindowsError('timeout', `${tried}: it was ended after ${LIMIT_MS / 1000} s`, {
      cause,
    });
  }
  const said = quoteText(stdout.trim(), { maxLength: 500 });
  const found = `it ended with ${String(cause.code)} and said ${said}`;
  return new WindowsError('unknown', `${tried}: ${found}; wanted 0`, { cause });
}
