import { spawnSync } from 'node:child_process';
import { startProgram, type RunningProgram } from './built-program.js';

const UNSHARE = '/usr/bin/unshare';
/** Options that make a process a container in the view of the daemon. */
const OPTIONS = ['--mount'];

/** Whether this user may create a mount namespace. */
export function mayMakeContainer(): boolean {
  return spawnSync(UNSHARE, [...OPTIONS, '/bin/true'], { stdio: 'ignore' }).status === 0;
}

/** Starts a Node program as a client in a container; if this user can create none, as another client of the host. */
export function startInContainer(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): RunningProgram {
  const command = [process.execPath, ...args];
  const [file = '', ...rest] = mayMakeContainer() ? [UNSHARE, ...OPTIONS, ...command] : command;
  return startProgram(file, rest, environment);
}
