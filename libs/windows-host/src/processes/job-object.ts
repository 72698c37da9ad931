import type { TreeLimits, TreeUsage } from '@wins/base';
import { cpus } from 'node:os';
import { call, OwnedHandle } from '../win32/calls/call.js';
import { kernel32, type Handle } from '../win32/kernel32.js';
import * as structures from '../win32/structures.js';
import { unlessFails, WindowsError } from '../windows-error.js';
import {
  isInJob,
  PROCESS_QUERY_INFORMATION,
  TERMINATED_EXIT_CODE,
  withProcess,
} from './windows-process.js';

const JobObjectBasicAccountingInformation = 1;
const JobObjectBasicProcessIdList = 3;

const UNITS_PER_MS = 10_000;
const MAX_PROCESSES = 1024;
/** `NumberOfAssignedProcesses` and `NumberOfProcessIdsInList`. */
const LIST_HEAD_BYTES = 8;
const ERROR_MORE_DATA = 234;

/** Adds up the memory of at most 1,024 processes. @throws WindowsError */
export function jobUsage(job: Handle): TreeUsage {
  const account = jobAccount(job);
  const memoryBytes = processesIn(job).reduce((sum, pid) => sum + workingSetOf(pid, job), 0);
  return { ...account, memoryBytes };
}

/** Omits memory, which requires a query of each process. @throws WindowsError */
export function jobAccount(job: Handle): Pick<TreeUsage, 'cpuMs' | 'processes'> {
  const accounting = structures.JOBOBJECT_BASIC_ACCOUNTING_INFORMATION.create({});
  ask(job, JobObjectBasicAccountingInformation, accounting);
  return readAccounting(accounting);
}

export function readAccounting(accounting: Buffer): Pick<TreeUsage, 'cpuMs' | 'processes'> {
  const { TotalUserTime, TotalKernelTime, ActiveProcesses } =
    structures.JOBOBJECT_BASIC_ACCOUNTING_INFORMATION.read(accounting);
  const units = Number(TotalUserTime) + Number(TotalKernelTime);
  return { cpuMs: Math.round(units / UNITS_PER_MS), processes: ActiveProcesses };
}

/** https://learn.microsoft.com/windows/win32/api/winnt/ns-winnt-jobobject_basic_process_id_list */
export function processesIn(job: Handle): readonly number[] {
  const list = Buffer.alloc(LIST_HEAD_BYTES + 8 * MAX_PROCESSES);
  try {
    ask(job, JobObjectBasicProcessIdList, list);
  } catch (error) {
    // The list is full; the other processes are omitted.
    if (!(error instanceof WindowsError) || error.errorNumber !== ERROR_MORE_DATA) throw error;
  }
  const count = Math.min(list.readUInt32LE(4), MAX_PROCESSES);
  return Array.from({ length: count }, (_, at) =>
    Number(list.readBigUInt64LE(LIST_HEAD_BYTES + 8 * at)),
  );
}

/** Returns 0 for an ended process, even if its PID was reused. Wine requires `PROCESS_QUERY_INFORMATION`. */
function workingSetOf(pid: number, job: Handle): number {
  const counting = structures.PROCESS_MEMORY_COUNTERS;
  const cb = counting.sizeBytes;
  const used = unlessFails(() =>
    withProcess(pid, PROCESS_QUERY_INFORMATION, (handle) => {
      if (!isInJob(handle, job)) return 0;
      const counters = counting.create({ cb });
      const known = kernel32.K32GetProcessMemoryInfo(handle, counters, cb) !== 0;
      return known ? Number(counting.read(counters).WorkingSetSize) : 0;
    }),
  );
  return used ?? 0;
}

function ask(job: Handle, kind: number, information: Buffer): void {
  const { QueryInformationJobObject: query } = kernel32;
  call('cannot query the usage of a job', query, job, kind, information, information.length, null);
}

const JobObjectExtendedLimitInformation = 9;
const JobObjectCpuRateControlInformation = 15;
const JOB_OBJECT_LIMIT_ACTIVE_PROCESS = 0x8;
const JOB_OBJECT_LIMIT_JOB_MEMORY = 0x200;
const JOB_OBJECT_LIMIT_BREAKAWAY_OK = 0x800;
const JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE = 0x2000;
const JOB_OBJECT_CPU_RATE_CONTROL_ENABLE = 1;
const JOB_OBJECT_CPU_RATE_CONTROL_HARD_CAP = 4;
const ALL_PROCESSORS = 10_000;
const MAX_PAGE_BYTES = 64 * 1024;
const NEARLY_ALL = 15 / 16;

export interface JobOptions {
  /** Allows processes to start others outside the job, on request. Default: false. */
  readonly mayBreakAway?: boolean;
  readonly limits?: TreeLimits | undefined;
}
/**
 * The system kills all processes of the job when its last handle closes, however this process ends. The handle is not
 * inheritable; the caller closes it.
 *
 * @throws WindowsError `unavailable` when the system does not store one of the limits as requested.
 */
export function openJob(options: JobOptions = {}): OwnedHandle {
  const tried = 'cannot create a job object';
  const job = new OwnedHandle(call(tried, kernel32.CreateJobObjectW, null, null));
  const { SetInformationJobObject } = kernel32;
  try {
    const wanted = jobLimits(options);
    const kind = JobObjectExtendedLimitInformation;
    call(tried, SetInformationJobObject, job.value, kind, wanted, wanted.length);
    const { limits } = options;
    if (limits?.cpus !== undefined) {
      const rate = cpuRate(limits.cpus, cpus().length);
      const information = JobObjectCpuRateControlInformation;
      call(tried, SetInformationJobObject, job.value, information, rate, rate.length);
    }
    if (limits !== undefined) assertKept(job.value, wanted);
    return job;
  } catch (error) {
    job.close();
    throw error;
  }
}

/** Some systems, such as Wine, accept limits and drop them. */
function assertKept(job: Handle, wanted: Buffer): void {
  const kept = limitsOf(job);
  const { LimitFlags, ActiveProcessLimit, JobMemoryLimit } =
    structures.JOBOBJECT_EXTENDED_LIMIT_INFORMATION.read(wanted);
  const isKept =
    kept.LimitFlags === LimitFlags &&
    kept.ActiveProcessLimit === ActiveProcessLimit &&
    // The system rounds to whole pages.
    Math.abs(Number(kept.JobMemoryLimit) - Number(JobMemoryLimit)) < MAX_PAGE_BYTES;
  if (isKept) return;
  const message = 'cannot limit a job object: the system does not keep the limits';
  throw new WindowsError('unavailable', message);
}

function limitsOf(job: Handle) {
  const found = structures.JOBOBJECT_EXTENDED_LIMIT_INFORMATION.create({});
  ask(job, JobObjectExtendedLimitInformation, found);
  return structures.JOBOBJECT_EXTENDED_LIMIT_INFORMATION.read(found);
}

/** Guesses from the peak usage, because the system reports a reached limit only through a completion port. */
export function hasRunOutOfMemory(job: Handle, limitBytes: number): boolean {
  return Number(limitsOf(job).PeakJobMemoryUsed) >= limitBytes * NEARLY_ALL;
}

/** The processes exit with 1. @throws WindowsError */
export function endJob(job: Handle): void {
  call('cannot end the processes of a job', kernel32.TerminateJobObject, job, TERMINATED_EXIT_CODE);
}

/** Never allows silent breakaway: a process leaves the job only on request, and only with `mayBreakAway`. */
export function jobLimits({ mayBreakAway = false, limits = {} }: JobOptions): Buffer {
  const { memoryBytes, pids } = limits;
  return structures.JOBOBJECT_EXTENDED_LIMIT_INFORMATION.create({
    LimitFlags:
      JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE |
      (mayBreakAway ? JOB_OBJECT_LIMIT_BREAKAWAY_OK : 0) |
      (memoryBytes === undefined ? 0 : JOB_OBJECT_LIMIT_JOB_MEMORY) |
      (pids === undefined ? 0 : JOB_OBJECT_LIMIT_ACTIVE_PROCESS),
    ActiveProcessLimit: pids ?? 0,
    JobMemoryLimit: BigInt(memoryBytes ?? 0),
  });
}

/** Share of all processors as a hard cap, in hundredths of a per cent. */
export function cpuRate(wanted: number, processors: number): Buffer {
  const rate = Math.round((wanted / processors) * ALL_PROCESSORS);
  return structures.JOBOBJECT_CPU_RATE_CONTROL_INFORMATION.create({
    ControlFlags: JOB_OBJECT_CPU_RATE_CONTROL_ENABLE | JOB_OBJECT_CPU_RATE_CONTROL_HARD_CAP,
    CpuRate: Math.min(ALL_PROCESSORS, Math.max(1, rate)),
  });
}
