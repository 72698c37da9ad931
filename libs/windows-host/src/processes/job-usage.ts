import { check, type Handle } from '../win32/kernel32.js';
import {
  JobObjectBasicAccountingInformation,
  JobObjectBasicProcessIdList,
  jobs,
} from '../win32/jobs.js';
import { processes } from '../win32/processes.js';
import { WindowsError } from '../windows-error.js';
import { withProcess } from './windows-process.js';

/** What a job has used. */
export interface JobUsage {
  /** Processor time of all processes that were ever in the job, those that have ended too, in milliseconds. */
  readonly cpuMs: number;
  /** Working sets of the processes that run, in bytes; what several share is counted for each. Of 1,024 processes at most. */
  readonly memoryBytes: number;
  /** How many processes run. */
  readonly processes: number;
}

const UNITS_PER_MS = 10_000;
const MAX_PROCESSES = 1024;
/** PROCESS_MEMORY_COUNTERS, of which WorkingSetSize is at 16. */
const MEMORY_COUNTERS_BYTES = 72;
const ERROR_MORE_DATA = 234;

/**
 * Asks the system what a job has used.
 *
 * Sources: https://learn.microsoft.com/windows/win32/api/winnt/ns-winnt-jobobject_basic_accounting_information,
 * https://learn.microsoft.com/windows/win32/api/winnt/ns-winnt-jobobject_basic_process_id_list and
 * https://learn.microsoft.com/windows/win32/api/psapi/ns-psapi-process_memory_counters
 *
 * @throws WindowsError
 */
export function jobUsage(job: Handle): JobUsage {
  const accounting = Buffer.alloc(48);
  ask(job, JobObjectBasicAccountingInformation, accounting);
  const userTime = Number(accounting.readBigInt64LE(0));
  const kernelTime = Number(accounting.readBigInt64LE(8));
  return {
    cpuMs: Math.round((userTime + kernelTime) / UNITS_PER_MS),
    memoryBytes: processesIn(job).reduce((sum, pid) => sum + workingSetOf(pid, job), 0),
    processes: accounting.readUInt32LE(40),
  };
}

function processesIn(job: Handle): readonly number[] {
  const list = Buffer.alloc(8 + 8 * MAX_PROCESSES);
  try {
    ask(job, JobObjectBasicProcessIdList, list);
  } catch (error) {
    // The list is full then, and the others are left out.
    if (!(error instanceof WindowsError) || error.errorNumber !== ERROR_MORE_DATA) throw error;
  }
  const count = Math.min(list.readUInt32LE(4), MAX_PROCESSES);
  return Array.from({ length: count }, (_, at) => Number(list.readBigUInt64LE(8 + 8 * at)));
}

/** 0 for a process that has ended meanwhile: its number may be another's by now. */
function workingSetOf(pid: number, job: Handle): number {
  try {
    return (
      withProcess(pid, 0, (handle) => {
        const isInJob: [number] = [0];
        if (jobs().IsProcessInJob(handle, job, isInJob) === 0 || isInJob[0] === 0) return 0;
        const counters = Buffer.alloc(MEMORY_COUNTERS_BYTES);
        counters.writeUInt32LE(counters.length, 0);
        const known = processes().K32GetProcessMemoryInfo(handle, counters, counters.length) !== 0;
        return known ? Number(counters.readBigUInt64LE(16)) : 0;
      }) ?? 0
    );
  } catch (error) {
    if (error instanceof WindowsError) return 0;
    throw error;
  }
}

function ask(job: Handle, kind: number, information: Buffer): void {
  const { QueryInformationJobObject: query } = jobs();
  const done = query(job, kind, information, information.length, null);
  check(done !== 0, 'QueryInformationJobObject', 'asked what a job has used');
}
