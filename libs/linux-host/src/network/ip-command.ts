import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { promisify } from 'node:util';
import { LinuxError } from '../linux-error.js';

/** Where iproute2 is installed. Root runs it, so the search path does not choose it. */
const PROGRAMS = ['/sbin/ip', '/usr/sbin/ip'];

const TIMEOUT_MS = 10_000;
const MAX_OUTPUT_BYTES = 64 * 1024;

const run = promisify(execFile);

/**
 * Runs `ip` with these arguments and waits for its end, 10 seconds at most.
 *
 * @throws LinuxError `unavailable` when it is not installed, `accessDenied` when this user may not change routes, `unknown`
 *   with what it said.
 */
export async function runIp(args: readonly string[]): Promise<void> {
  const program = await findProgram();
  try {
    await run(program, args, {
      cwd: '/',
      env: {},
      timeout: TIMEOUT_MS,
      maxBuffer: MAX_OUTPUT_BYTES,
    });
  } catch (error) {
    const { stderr } = error as { readonly stderr?: string };
    const said = stderr?.trim() ?? '';
    const code = /not permitted|permission denied/i.test(said) ? 'accessDenied' : 'unknown';
    throw new LinuxError(code, `${program} ${args.join(' ')}: ${said || String(error)}`, {
      cause: error,
    });
  }
}

async function findProgram(): Promise<string> {
  for (const program of PROGRAMS) {
    try {
      await access(program, constants.X_OK);
      return program;
    } catch {
      // The next place.
    }
  }
  const message = `routes cannot be changed: found neither ${PROGRAMS.join(' nor ')}; wanted iproute2`;
  throw new LinuxError('unavailable', message);
}
