import { spawnSync } from 'node:child_process';
import { startProgram, type RunningProgram } from './built-program.js';

const UNSHARE = '/usr/bin/unshare';
/** Options that set a container apart from the host, for the daemon. */
const OPTIONS = ['--mount'];

/** Whether this user may make mounts of his own. */
export function mayMakeContainer(): boolean {
  return spawnSync(UNSHARE, [...OPTIONS, '/bin/true'], { stdio: 'ignore' }).status === 0;
}

/** Starts a program of Node's as a client in a container, or, where none can be made, as another client of the host. */
export function startInContainer(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): RunningProgram {
  const command = [process.execPath, ...args];
  const [file = '', ...rest] = mayMakeContainer() ? [UNSHARE, ...OPTIONS, ...command] : command;
  return startProgram(file, rest, environment);
}
