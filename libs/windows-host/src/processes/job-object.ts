import type { TreeUsage } from '@wins/base';
import { call, OwnedHandle } from '../win32/calls/call.js';
import { kernel32, type Handle } from '../win32/kernel32.js';
import {
  JOBOBJECT_BASIC_ACCOUNTING_INFORMATION,
  PROCESS_MEMORY_COUNTERS,
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION,
} from '../win32/structures.js';
import { unlessFails, WindowsError } from '../windows-error.js';
import { isInJob, PROCESS_QUERY_INFORMATION, withProcess } from './windows-process.js';

const JobObjectBasicAccountingInformation = 1;
const JobObjectBasicProcessIdList = 3;

const UNITS_PER_MS = 10_000;
const MAX_PROCESSES = 1024;
/** Before the list of JOBOBJECT_BASIC_PROCESS_ID_LIST: how many there are, and how many fit. */
const LIST_HEAD_BYTES = 8;
const ERROR_MORE_DATA = 234;

/** Asks the system what a job has used, memory of 1,024 processes at most. @throws WindowsError */
export function jobUsage(job: Handle): TreeUsage {
  const account = jobAccount(job);
  const memoryBytes = processesIn(job).reduce((sum, pid) => sum + workingSetOf(pid, job), 0);
  return { ...account, memoryBytes };
}

/** The same without memory, which takes a look at each process. @throws WindowsError */
export function jobAccount(job: Handle): Pick<TreeUsage, 'cpuMs' | 'processes'> {
  const accounting = JOBOBJECT_BASIC_ACCOUNTING_INFORMATION.create({});
  ask(job, JobObjectBasicAccountingInformation, accounting);
  return readAccounting(accounting);
}

export function readAccounting(accounting: Buffer): Pick<TreeUsage, 'cpuMs' | 'processes'> {
  const { TotalUserTime, TotalKernelTime, ActiveProcesses } =
    JOBOBJECT_BASIC_ACCOUNTING_INFORMATION.read(accounting);
  const units = Number(TotalUserTime) + Number(TotalKernelTime);
  return { cpuMs: Math.round(units / UNITS_PER_MS), processes: ActiveProcesses };
}

/** https://learn.microsoft.com/windows/win32/api/winnt/ns-winnt-jobobject_basic_process_id_list */
export function processesIn(job: Handle): readonly number[] {
  const list = Buffer.alloc(LIST_HEAD_BYTES + 8 * MAX_PROCESSES);
  try {
    ask(job, JobObjectBasicProcessIdList, list);
  } catch (error) {
    // The list is full then, and the others are left out.
    if (!(error instanceof WindowsError) || error.errorNumber !== ERROR_MORE_DATA) throw error;
  }
  const count = Math.min(list.readUInt32LE(4), MAX_PROCESSES);
  return Array.from({ length: count }, (_, at) =>
    Number(list.readBigUInt64LE(LIST_HEAD_BYTES + 8 * at)),
  );
}

/**
 * 0 for a process that has ended meanwhile: its number may be another's by now. Windows tells the job for less; Wine wants the full
 * right to ask.
 */
function workingSetOf(pid: number, job: Handle): number {
  const size = PROCESS_MEMORY_COUNTERS.sizeBytes;
  const used = unlessFails(() =>
    withProcess(pid, PROCESS_QUERY_INFORMATION, (handle) => {
      if (!isInJob(handle, job)) return 0;
      const counters = PROCESS_MEMORY_COUNTERS.create({ cb: size });
      const known = kernel32.K32GetProcessMemoryInfo(handle, counters, size) !== 0;
      return known ? Number(PROCESS_MEMORY_COUNTERS.read(counters).WorkingSetSize) : 0;
    }),
  );
  return used ?? 0;
}

function ask(job: Handle, kind: number, information: Buffer): void {
  const { QueryInformationJobObject: query } = kernel32;
  call('asked what a job has used', query, job, kind, information, information.length, null);
}

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
