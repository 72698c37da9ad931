import { openNullDevice } from './windows-process-output.js';
import { startWindowsProcess, type Program } from './windows-process-start.js';
import { creationTime, type ProcessIdentity } from './windows-process.js';
import {
  CREATE_BREAKAWAY_FROM_JOB,
  CREATE_NEW_PROCESS_GROUP,
  DETACHED_PROCESS,
} from './win32/processes.js';

/**
 * Starts a program that outlives this process and its run: outside of the job, without a console, without input and output. For
 * the helper of an upgrade, which goes on while the daemon is replaced. Nothing is to be closed.
 *
 * @throws WindowsError `access-denied` when the job of this process does not let it: only a run whose rule allows it may.
 */
export function startDetachedProcess(program: Program): ProcessIdentity {
  const nothing = openNullDevice();
  try {
    const { value } = nothing;
    const { pid, handle } = startWindowsProcess(program, {
      job: undefined,
      stdio: [value, value, value],
      flags: CREATE_BREAKAWAY_FROM_JOB | DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP,
    });
    try {
      return { pid, created: creationTime(handle.value) };
    } finally {
      handle.close();
    }
  } finally {
    nothing.close();
  }
}
