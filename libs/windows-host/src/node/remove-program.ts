import { errnoOf } from '@wins/base';
import { whenNotHeld } from '@wins/trusted-files';
import { randomUUID } from 'node:crypto';
import { realpath, rename, unlink } from 'node:fs/promises';
import path from 'node:path';
import { startOutsideJob } from '../processes/windows-process-start.js';
import { systemPath } from '../win32/calls/system-library.js';
import { call } from '../win32/calls/call.js';
import { kernel32 } from '../win32/kernel32.js';
import { WindowsError } from '../windows-error.js';

const MOVEFILE_DELAY_UNTIL_REBOOT = 4;
/** Number of attempts, one a second. */
const TRIES = 20;
/** Path that `cmd.exe` reads without quotes. */
const PLAIN = /^[A-Za-z]:[\w.\\-]+$/;

/**
 * Removes a file. Windows cannot delete the running program's file, so that file is moved to the root of its drive. It is
 * deleted there after this process ends, or at the next system start.
 *
 * @param heldFileMs - Time in milliseconds to retry while another program holds the file.
 */
export async function removeFile(file: string, heldFileMs: number): Promise<void> {
  if (!(await isOwnProgram(file))) return whenNotHeld(() => unlink(file), heldFileMs);
  // A file cannot be moved to another drive while it runs.
  const moved = `${path.win32.parse(file).root}wins-${randomUUID()}.exe`;
  // Schedule the removal before the move: in the other order, the file would stay forever if this process ended between the two.
  const isCaredFor = removeAfterwards(moved);
  await rename(file, moved);
  if (!isCaredFor) removeAtStart(moved);
}

async function isOwnProgram(file: string): Promise<boolean> {
  try {
    const [own, other] = await Promise.all([realpath(process.execPath), realpath(file)]);
    return own.toLowerCase() === other.toLowerCase();
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return false;
    throw error;
  }
}

/**
 * Lets `cmd.exe` remove a file after this process ends. A helper program of our own would have to be removed in turn.
 *
 * @returns false when the system folder's path is unusual, or this process's job forbids breakaway.
 */
function removeAfterwards(file: string): boolean {
  const directory = path.win32.dirname(systemPath('cmd.exe'));
  const wait = `${systemPath('ping.exe')} -n 2 127.0.0.1`;
  if (![file, directory].every((each) => PLAIN.test(each))) return false;
  // `if` governs all later commands, so the script ends once the file is gone.
  const tries = Array<string>(TRIES).fill(`${wait} & if exist ${file} del /f /q ${file}`);
  const script = tries.join(' & ');
  try {
    startOutsideJob({
      file: systemPath('cmd.exe'),
      argv0: 'cmd.exe',
      directory,
      args: ['/d', '/s', '/c', script],
      env: { SystemRoot: path.win32.dirname(directory), PATH: directory },
    });
    return true;
  } catch (error) {
    if (error instanceof WindowsError) return false;
    throw error;
  }
}

function removeAtStart(file: string): void {
  const tried = 'cannot mark the program of this process for removal';
  call(tried, kernel32.MoveFileExW, file, null, MOVEFILE_DELAY_UNTIL_REBOOT);
}
