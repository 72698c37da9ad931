import { spawnSync } from 'node:child_process';
import { startProgram, type RunningProgram } from './built-program.js';

const UNSHARE = '/usr/bin/unshare';
/** Options that give a process a new mount namespace. The daemon is outside this namespace, and regards the process as a container. */
const OPTIONS = ['--mount'];

export function mayMakeContainer(): boolean {
  return spawnSync(UNSHARE, [...OPTIONS, '/bin/true'], { stdio: 'ignore' }).status === 0;
}

/** Starts a Node program in a container, or on the host if this user may not create containers. */
export function startInContainer(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): RunningProgram {
  const command = [process.execPath, ...args];
  const [file = '', ...rest] = mayMakeContainer() ? [UNSHARE, ...OPTIONS, ...command] : command;
  return startProgram(file, rest, environment);
}
