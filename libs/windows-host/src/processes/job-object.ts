import { call } from '../win32/calls/call.js';
import { OwnedHandle } from '../win32/calls/owned-handle.js';
import { kernel32, type Handle } from '../win32/kernel32.js';
import { JOBOBJECT_EXTENDED_LIMIT_INFORMATION } from '../win32/structures.js';

/** What taskkill and Node use, too. */
const TERMINATED_EXIT_CODE = 1;
const JobObjectExtendedLimitInformation = 9;
const JOB_OBJECT_LIMIT_BREAKAWAY_OK = 0x800;
const JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE = 0x2000;

/**
 * Makes a tree of processes that ends with its handle: what is in the job, and everything that those start, is ended when the last
 * handle is closed, and the system closes it however this process ends. The handle is not inheritable; the caller closes it.
 *
 * @param mayBreakAway whether a process in it may start others outside of it, if it asks for it. Nothing leaves it otherwise.
 * @throws WindowsError
 */
export function openJob(mayBreakAway = false): OwnedHandle {
  const tried = 'made a job object';
  const job = new OwnedHandle(call(tried, kernel32.CreateJobObjectW, null, null));
  const limits = jobLimits(mayBreakAway);
  const { SetInformationJobObject } = kernel32;
  try {
    const kind = JobObjectExtendedLimitInformation;
    call(tried, SetInformationJobObject, job.value, kind, limits, limits.length);
    return job;
  } catch (error) {
    job.close();
    throw error;
  }
}

/** Ends every process of a job at once; they exit with 1. @throws WindowsError */
export function endJob(job: Handle): void {
  call('ended the processes of a job', kernel32.TerminateJobObject, job, TERMINATED_EXIT_CODE);
}

/** There is no silent breakaway: leaving takes a permission and a request. */
export function jobLimits(mayBreakAway: boolean): Buffer {
  const breakaway = mayBreakAway ? JOB_OBJECT_LIMIT_BREAKAWAY_OK : 0;
  return JOBOBJECT_EXTENDED_LIMIT_INFORMATION.create({
    LimitFlags: JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | breakaway,
  });
}
