import { quoteText } from '@wins/wins-program';
import { openNullDevice } from './windows-process-output.js';
import { startWindowsProcess, type Program } from './windows-process-start.js';
import { isInJob } from './windows-process-table.js';
import { creationTime, endProcess, type ProcessIdentity } from './windows-process.js';
import { WindowsError } from '../windows-error.js';
import {
  CREATE_BREAKAWAY_FROM_JOB,
  CREATE_NEW_PROCESS_GROUP,
  DETACHED_PROCESS,
} from '../win32/processes.js';

/**
 * Starts a program that outlives this process and its run: outside of the job, without a console, without input and output. For
 * the helper of an upgrade, which goes on while the daemon is replaced. Nothing is to be closed.
 *
 * @throws WindowsError `accessDenied` when the job of this process does not let it: only a run whose rule allows it may.
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
      const identity = { pid, created: creationTime(handle.value) };
      // Node puts a process that starts others into a job of its own, which lets go of everything. Then the system starts the
      // program inside of the job around that one, without an error.
      if (!isInJob(handle.value)) return identity;
      endProcess(identity);
      const tried = `started ${quoteText(program.file)} outside of the job of this process`;
      throw new WindowsError('accessDenied', `${tried}: it was in it nevertheless, and was ended`);
    } finally {
      handle.close();
    }
  } finally {
    nothing.close();
  }
}
