import { errnoOf } from '@wins/base';
import { whenNotHeld } from '@wins/trusted-files';
import { randomUUID } from 'node:crypto';
import { realpath, rename, unlink } from 'node:fs/promises';
import path from 'node:path';
import { startDetachedProcess } from '../processes/windows-process-start.js';
import { systemPath } from '../win32/calls/system-library.js';
import { call } from '../win32/calls/call.js';
import { kernel32 } from '../win32/kernel32.js';
import { WindowsError } from '../windows-error.js';

const MOVEFILE_DELAY_UNTIL_REBOOT = 4;
/** A second apart. */
const TRIES = 20;
/** Path that needs no quotes in a command line of the command interpreter. */
const PLAIN = /^[A-Za-z]:[\w.\\-]+$/;

/**
 * Removes a file. That of the program which this process runs can only be moved: it goes to the system's folder for temporary files,
 * and is removed there a moment after this process, or when the system starts.
 *
 * @param heldFileMs - How long a file is waited for that another program holds.
 */
export async function removeFile(file: string, heldFileMs: number): Promise<void> {
  if (!(await isOwnProgram(file))) return whenNotHeld(() => unlink(file), { heldFileMs });
  const folder = path.win32.join(path.win32.dirname(systemPath('.')), 'Temp');
  const moved = path.win32.join(folder, `wins-${randomUUID()}.exe`);
  // Before it is there: a process that ended between the two would leave it for good.
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
 * Has a file removed a moment later; the file may be created until then. Only a program of the system can do it, because any
 * other would have to be removed in turn.
 *
 * @returns False where the system lies in an odd place, or the job that this process is in lets nothing leave it.
 */
function removeAfterwards(file: string): boolean {
  const directory = path.win32.dirname(systemPath('cmd.exe'));
  const wait = `${systemPath('ping.exe')} -n 2 127.0.0.1`;
  if (![file, directory].every((each) => PLAIN.test(each))) return false;
  // What follows "if" is done only while the file is there.
  const tries = Array<string>(TRIES).fill(`${wait} & if exist ${file} del /f /q ${file}`);
  const script = tries.join(' & ');
  try {
    startDetachedProcess({
      ...{ file: systemPath('cmd.exe'), argv0: 'cmd.exe', directory },
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
