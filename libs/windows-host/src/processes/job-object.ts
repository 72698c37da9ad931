import { check, type Handle } from '../win32/kernel32.js';
import {
  JobObjectBasicAccountingInformation,
  JobObjectExtendedLimitInformation,
  JOB_OBJECT_LIMIT_BREAKAWAY_OK,
  JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
  jobs,
} from '../win32/jobs.js';
import { OwnedHandle } from '../win32/calls/owned-handle.js';

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
    const job = jobs().CreateJobObjectW(null, null);
    check(job !== 0, 'CreateJobObjectW', tried);
    this.#job = new OwnedHandle(job);
    const limits = jobLimits(mayBreakAway);
    try {
      const kind = JobObjectExtendedLimitInformation;
      const done = jobs().SetInformationJobObject(job, kind, limits, limits.length);
      check(done !== 0, 'SetInformationJobObject', tried);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** @throws RangeError after `close`. */
  get handle(): Handle {
    return this.#job.value;
  }

  /** How many processes of the tree run. @throws WindowsError */
  activeProcesses(): number {
    const information = Buffer.alloc(48);
    const kind = JobObjectBasicAccountingInformation;
    const { QueryInformationJobObject: query } = jobs();
    const done = query(this.handle, kind, information, information.length, null);
    check(done !== 0, 'QueryInformationJobObject', 'counted the processes of a job');
    return information.readUInt32LE(40);
  }

  /** Ends every process of the tree at once; they exit with 1. @throws WindowsError */
  terminate(): void {
    const done = jobs().TerminateJobObject(this.handle, TERMINATED_EXIT_CODE);
    check(done !== 0, 'TerminateJobObject', 'ended the processes of a job');
  }

  /** Ends whatever of the tree still runs. Idempotent. */
  close(): void {
    this.#job.close();
  }
}

/** JOBOBJECT_EXTENDED_LIMIT_INFORMATION. There is no silent breakaway: leaving takes a permission and a request. */
export function jobLimits(mayBreakAway: boolean): Buffer {
  const limits = Buffer.alloc(144);
  const breakaway = mayBreakAway ? JOB_OBJECT_LIMIT_BREAKAWAY_OK : 0;
  limits.writeUInt32LE(JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | breakaway, 16);
  return limits;
}
