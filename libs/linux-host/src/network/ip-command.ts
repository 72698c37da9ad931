import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, constants } from 'node:fs/promises';
import { promisify } from 'node:util';
import { LinuxError } from '../linux-error.js';

/** Where iproute2 is installed. Root runs it, so the search path does not choose it. */
const FOLDERS = ['/sbin', '/usr/sbin'];

const TIMEOUT_MS = 10_000;
/** A routing table of some 100,000 routes. */
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;

const run = promisify(execFile);

/**
 * Runs `ip`, or another program of iproute2, with these arguments, waits for its end, 10 seconds at most, and resolves with its output.
 *
 * @throws LinuxError `unavailable` when it is not installed, `accessDenied` when this user may not change routes, `unknown`
 *   with what it said.
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
  ...{ cwd: '/', env: {}, timeout: TIMEOUT_MS, maxBuffer: MAX_OUTPUT_BYTES },
} as const;

/**
 * Runs lines of arguments one after another in one `ip`, each whatever became of those before, 10 seconds in all. There is no shell, and no
 * quoting: words have no blanks.
 *
 * @returns For each line what was said when it failed; undefined when it did not.
 * @throws LinuxError as {@link runIp}, when not even a line can be run.
 */
export async function runIpLines(
  lines: readonly (readonly string[])[],
): Promise<readonly (string | undefined)[]> {
  const program = await findProgram('ip');
  const running = run(program, ['-4', '-force', '-batch', '-'], OPTIONS);
  // A program that ends early says why by its status.
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
    if (failures.size === 0) {
      const message = `${program}: ${said.join(' ').trim() || String(error)}`;
      throw new LinuxError('unknown', message, { cause: error });
    }
  }
  return lines.map((_, index) => failures.get(index + 1));
}

/** Calls back for each piece of what `ip` prints, until the signal aborts. @throws LinuxError when it ends before. */
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
  if (!isOver()) throw new LinuxError('unknown', `${program} ${args.join(' ')} has ended`);
}

export function isDenial(said: string): boolean {
  return /not permitted|permission denied/i.test(said);
}

function stderrOf(error: unknown): string {
  return (error as { readonly stderr?: string }).stderr ?? '';
}

async function findProgram(name: string): Promise<string> {
  const places = FOLDERS.map((folder) => `${folder}/${name}`);
  for (const program of places) {
    try {
      await access(program, constants.X_OK);
      return program;
    } catch {
      // The next place.
    }
  }
  const message = `the network cannot be changed: iproute2 is not installed (${places.join(', ')})`;
  throw new LinuxError('unavailable', message);
}
