import { quoteText } from '@wins/wins-program';
import { openNullDevice } from './windows-process-output.js';
import { startWindowsProcess, type Program } from './windows-process-start.js';
import { creationTime, endProcess, isInJob, type ProcessIdentity } from './windows-process.js';
import { WindowsError } from '../windows-error.js';

const DETACHED_PROCESS = 0x8;
const CREATE_NEW_PROCESS_GROUP = 0x200;
const CREATE_BREAKAWAY_FROM_JOB = 0x100_0000;

/**
 * Starts a program that outlives this process and its run: outside of the job, without a console, without input and output. For
 * the helper of an upgrade, which goes on while the daemon is replaced. Nothing is to be closed.
 *
 * @throws WindowsError `accessDenied` when the job of this process does not let it: only a run whose rule allows it may.
 */
export function startDetachedProcess(program: Program): ProcessIdentity {
  using nothing = openNullDevice();
  const { value } = nothing;
  const { pid, handle } = startWindowsProcess(program, {
    job: undefined,
    stdio: [value, value, value],
    flags: CREATE_BREAKAWAY_FROM_JOB | DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP,
  });
  using started = handle;
  const identity = { pid, created: creationTime(started.value) };
  // Node puts a process that starts others into a job of its own, which lets go of everything. Then the system starts the
  // program inside of the job around that one, without an error.
  if (!isInJob(started.value)) return identity;
  endProcess(identity);
  const tried = `started ${quoteText(program.file)} outside of the job of this process`;
  throw new WindowsError('accessDenied', `${tried}: it was in it nevertheless, and was ended`);
}
