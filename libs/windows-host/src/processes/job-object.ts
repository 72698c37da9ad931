import { call } from '../win32/calls/call.js';
import { OwnedHandle } from '../win32/calls/owned-handle.js';
import { kernel32, type Handle } from '../win32/kernel32.js';
import { JOBOBJECT_EXTENDED_LIMIT_INFORMATION } from '../win32/structures.js';

const JobObjectExtendedLimitInformation = 9;
const JOB_OBJECT_LIMIT_BREAKAWAY_OK = 0x800;
const JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE = 0x2000;

/** What taskkill and Node use, too. */
const TERMINATED_EXIT_CODE = 1;

/**
 * A tree of processes that ends with this object: what is in the job, and everything that those start, is ended when the last
 * handle is closed, and the system closes it however this process ends. The handle is not inheritable.
 */
export class JobObject {
  readonly #job: OwnedHandle;

  /**
   * @param mayBreakAway whether a process in it may start others outside of it, if it asks for it. Nothing leaves it otherwise.
   * @throws WindowsError
   */
  constructor({ mayBreakAway = false }: { readonly mayBreakAway?: boolean } = {}) {
    const tried = 'made a job object';
    const job = call(tried, kernel32.CreateJobObjectW, null, null);
    this.#job = new OwnedHandle(job);
    const limits = jobLimits(mayBreakAway);
    const kind = JobObjectExtendedLimitInformation;
    try {
      call(tried, kernel32.SetInformationJobObject, job, kind, limits, limits.length);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** @throws RangeError after `close`. */
  get handle(): Handle {
    return this.#job.value;
  }

  /** Ends every process of the tree at once; they exit with 1. @throws WindowsError */
  terminate(): void {
    const { TerminateJobObject } = kernel32;
    call('ended the processes of a job', TerminateJobObject, this.handle, TERMINATED_EXIT_CODE);
  }

  /** Ends whatever of the tree still runs. Idempotent. */
  close(): void {
    this.#job.close();
  }
}

/** There is no silent breakaway: leaving takes a permission and a request. */
export function jobLimits(mayBreakAway: boolean): Buffer {
  const breakaway = mayBreakAway ? JOB_OBJECT_LIMIT_BREAKAWAY_OK : 0;
  return JOBOBJECT_EXTENDED_LIMIT_INFORMATION.create({
    LimitFlags: JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | breakaway,
  });
}
