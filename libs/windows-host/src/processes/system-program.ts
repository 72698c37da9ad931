import { quoteText } from '@wins/base';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { systemPath } from '../win32/calls/system-library.js';
import { WindowsError } from '../windows-error.js';

// These programs take a fraction of a second, unless a service behind them is starting.
const LIMIT_MS = 30_000;
const MAX_OUTPUT_BYTES = 64 * 1024;

/**
 * Runs a program of System32, such as `netsh.exe`, without a shell and with a minimal environment, for at most 30
 * seconds. Aborting `signal` ends the program and throws the signal's reason.
 *
 * @throws WindowsError `unavailable`; `timeout`; `unknown` if the exit code is not 0.
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
  const failed = (code: 'unavailable' | 'timeout' | 'unknown', found: string) =>
    new WindowsError(code, `${tried}: ${found}`, { cause });
  if (cause.code === 'ENOENT') return failed('unavailable', 'it does not exist');
  if (cause.killed === true) return failed('timeout', `it was ended after ${LIMIT_MS / 1000} s`);
  const said = quoteText(stdout.trim(), { maxLength: 500 });
  return failed('unknown', `it ended with ${String(cause.code)} and said ${said}; wanted 0`);
}
