import { execFile } from 'node:child_process';
import type { Abortable } from 'node:events';
import { errnoOf, reasonOf } from '@wins/base';
import { setTimeout as delay } from 'node:timers/promises';
import { abortedBy, UpgradeError } from '../upgrade-error.js';

/** Exit code and output of a program. The code is null after a signal. */
export interface ProgramAnswer {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const LONGEST_OUTPUT = 64 * 1024;
/** Inherited variables; none of them makes a program load code. */
const PASSED_ON = ['PATH', 'SYSTEMROOT', 'SystemRoot', 'TEMP', 'TMP', 'ProgramData'] as const;
const MAX_TRIES = 6;
const FIRST_DELAY_MS = 10;
/**
 * Codes of errors after which the start is tried again, because another process may briefly hold the new program's file open.
 * On Windows, that process may be a virus scanner; libuv then reports UNKNOWN. Elsewhere, it may be a forked child that has
 * not yet called `exec`.
 */
const TRANSIENT: ReadonlySet<string> = new Set(
  process.platform === 'win32' ? ['UNKNOWN', 'EBUSY', 'EACCES', 'EPERM'] : ['ETXTBSY', 'EBUSY'],
);

/**
 * Runs a program with only a few of our variables. Tries up to six times, within 3.5 seconds, while another process has the file
 * open. Kills it on an abort. @throws UpgradeError `programFailed` when it cannot start, runs longer than `timeoutMs`, or prints over
 * 64 KiB; `aborted`.
 */
export async function runProgram(
  file: string,
  args: readonly string[],
  options: Abortable & { readonly timeoutMs: number },
): Promise<ProgramAnswer> {
  const { signal } = options;
  for (let tries = 1; ; tries += 1) {
    if (signal?.aborted === true) throw abortedBy(signal, triedTo(file, args));
    try {
      return await runOnce(file, args, options);
    } catch (error) {
      if (error instanceof UpgradeError) throw error;
      if (tries === MAX_TRIES || !TRANSIENT.has(errnoOf(error) ?? '')) {
        const often = tries === 1 ? '' : ` (tried ${tries} times)`;
        throw failure(file, args, reasonOf(error) + often, error);
      }
    }
    const delayMs = FIRST_DELAY_MS * 4 ** (tries - 1);
    await delay(delayMs, undefined, { signal }).catch(() => undefined);
  }
}

/** Runs a program with `--version`. Returns undefined if the answer is none of a wins release. @throws UpgradeError as {@link runProgram} does. */
export async function askVersion(
  file: string,
  options: Abortable & { readonly timeoutMs: number },
): Promise<string | undefined> {
  const { stdout } = await runProgram(file, ['--version'], options);
  return /^rancher-wins version ([\x21-\x7e]{1,100})\s*$/.exec(stdout)?.[1];
}

function runOnce(
  file: string,
  args: readonly string[],
  { signal, timeoutMs }: Abortable & { readonly timeoutMs: number },
): Promise<ProgramAnswer> {
  const passedOn = PASSED_ON.filter((name) => process.env[name] !== undefined);
  const options = {
    env: Object.fromEntries(passedOn.map((name) => [name, process.env[name]])),
    killSignal: 'SIGKILL' as const,
    timeout: timeoutMs,
    signal,
    maxBuffer: LONGEST_OUTPUT,
    windowsHide: true,
  };
  return new Promise((resolve, reject) => {
    const child = execFile(file, args, options, (error, stdout, stderr) => {
      const code = error === null ? 0 : (error.code ?? null);
      if (error !== null && signal?.aborted === true)
        reject(abortedBy(signal, triedTo(file, args)));
      else if (error?.code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER')
        reject(failure(file, args, 'it printed more than 64 KiB'));
      else if (error?.killed === true)
        reject(failure(file, args, `it did not end within ${timeoutMs} ms`));
      else if (typeof code !== 'string') resolve({ code, stdout, stderr });
    }).on('error', reject);
    // Write errors do not matter, because the program may end without reading.
    child.stdin?.on('error', () => undefined).end();
  });
}

function triedTo(file: string, args: readonly string[]): string {
  return `run ${[file, ...args].join(' ')}`;
}

function failure(file: string, args: readonly string[], found: string, cause?: unknown) {
  const message = `cannot ${triedTo(file, args)}: ${found}`;
  return new UpgradeError('programFailed', message, { cause });
}
