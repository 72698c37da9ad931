import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, constants } from 'node:fs/promises';
import { promisify } from 'node:util';
import { LinuxError } from '../linux-error.js';

/** Folders in which iproute2 is installed. PATH is not used, because root runs the program. */
const FOLDERS = ['/sbin', '/usr/sbin'];

const TIMEOUT_MS = 10_000;
/** Enough for a routing table of some 100,000 routes. */
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;

const run = promisify(execFile);

/**
 * Runs a program of iproute2, and resolves with its output. The time-out is 10 seconds.
 *
 * @throws LinuxError `unavailable` when the program is not installed, `accessDenied` when this user may not change routes, `unknown` with
 * its error output.
 */
export async function runIp(args: readonly string[], name: 'ip' | 'tc' = 'ip'): Promise<string> {
  const program = await findProgram(name);
  try {
    return (await run(program, args, OPTIONS)).stdout;
  } catch (error) {
    const said = stderrOf(error).trim();
    const code = isDenial(said) ? 'accessDenied' : 'unknown';
    throw new LinuxError(code, `${program} ${args.join(' ')}: ${said || String(error)}`, {
      cause: error,
    });
  }
}

const OPTIONS = {
  cwd: '/',
  env: {},
  timeout: TIMEOUT_MS,
  maxBuffer: MAX_OUTPUT_BYTES,
} as const;

/**
 * Runs all commands in one `ip` process, even after a command has failed. The time-out is 10 seconds in total. Words must not contain spaces,
 * because `ip` does not support quoting in batch input.
 *
 * @returns The error output of each failed line; undefined for a successful one.
 * @throws LinuxError as {@link runIp}, when no line could be run, or a signal ended `ip`, as at the time-out.
 */
export async function runIpLines(
  lines: readonly (readonly string[])[],
): Promise<readonly (string | undefined)[]> {
  const program = await findProgram('ip');
  const running = run(program, ['-4', '-force', '-batch', '-'], OPTIONS);
  // Ignored: if the program ends early, its exit status gives the reason.
  running.child.stdin?.on('error', () => undefined);
  running.child.stdin?.end(lines.map((words) => `${words.join(' ')}\n`).join(''));
  const failures = new Map<number, string>();
  try {
    await running;
  } catch (error) {
    let said: string[] = [];
    for (const line of stderrOf(error).split('\n')) {
      const [, number] = /^Command failed -:(\d+)$/.exec(line) ?? [];
      if (number === undefined) said.push(line);
      else {
        failures.set(Number(number), said.join(' ').trim() || 'it failed');
        said = [];
      }
    }
    // If a signal ended it, such as at the time-out, the lines after the last failure may not have run.
    const isWhole = typeof (error as { readonly code?: unknown }).code === 'number';
    if (failures.size === 0 || !isWhole) {
      const message = `${program}: ${said.join(' ').trim() || String(error)}`;
      throw new LinuxError('unknown', message, { cause: error });
    }
  }
  return lines.map((_, index) => failures.get(index + 1));
}

/** @throws LinuxError when `ip` ends before the signal aborts. */
export async function followIp(
  args: readonly string[],
  onOutput: () => void,
  signal: AbortSignal,
): Promise<void> {
  const program = await findProgram('ip');
  const isOver = (): boolean => signal.aborted;
  if (isOver()) return;
  const child = spawn(program, args, { cwd: '/', env: {}, stdio: ['ignore', 'pipe', 'ignore'] });
  const kill = (): boolean => child.kill();
  signal.addEventListener('abort', kill);
  child.stdout.on('data', onOutput);
  try {
    await once(child, 'close');
  } catch (error) {
    throw new LinuxError('unknown', `${program}: ${String(error)}`, { cause: error });
  } finally {
    signal.removeEventListener('abort', kill);
  }
  if (!isOver())
    throw new LinuxError('unknown', `${program} ${args.join(' ')} has ended too early`);
}

export function isDenial(said: string): boolean {
  return /not permitted|permission denied/i.test(said);
}

function stderrOf(error: unknown): string {
  return (error as { readonly stderr?: string }).stderr ?? '';
}

async function findProgram(name: string): Promise<string> {
  const candidates = FOLDERS.map((folder) => `${folder}/${name}`);
  for (const program of candidates) {
    try {
      await access(program, constants.X_OK);
      return program;
    } catch {
      // Try the next path.
    }
  }
  const message = `cannot run ${name}: there is no ${candidates.join(' and no ')}. Install iproute2`;
  throw new LinuxError('unavailable', message);
}
