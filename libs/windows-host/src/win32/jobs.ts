import type { Handle } from './kernel32.js';
import { lazily, loadSystemLibrary } from './calls/system-library.js';

export const JobObjectBasicAccountingInformation = 1;
export const JobObjectBasicProcessIdList = 3;
export const JobObjectExtendedLimitInformation = 9;
export const JOB_OBJECT_LIMIT_BREAKAWAY_OK = 0x800;
export const JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE = 0x2000;

/** Groups of processes that are limited and ended as one. */
export const jobs = lazily(() => {
  const { bind } = loadSystemLibrary('kernel32.dll');
  return {
    // https://learn.microsoft.com/windows/win32/api/jobapi2/nf-jobapi2-createjobobjectw
    CreateJobObjectW: bind<(security: null, name: null) => Handle>(
      'intptr_t __stdcall CreateJobObjectW(void *security, str16 name)',
    ),
    // https://learn.microsoft.com/windows/win32/api/jobapi2/nf-jobapi2-setinformationjobobject
    SetInformationJobObject: bind<
      (job: Handle, kind: number, information: Buffer, sizeBytes: number) => number
    >(
      'int __stdcall SetInformationJobObject(intptr_t job, int kind, void *information, uint32_t size)',
    ),
    // https://learn.microsoft.com/windows/win32/api/jobapi2/nf-jobapi2-queryinformationjobobject
    QueryInformationJobObject: bind<
      (job: Handle, kind: number, information: Buffer, sizeBytes: number, used: null) => number
    >(
      'int __stdcall QueryInformationJobObject(intptr_t job, int kind, void *information, uint32_t size, void *used)',
    ),
    // https://learn.microsoft.com/windows/win32/api/jobapi2/nf-jobapi2-terminatejobobject
    TerminateJobObject: bind<(job: Handle, code: number) => number>(
      'int __stdcall TerminateJobObject(intptr_t job, uint32_t code)',
    ),
    // https://learn.microsoft.com/windows/win32/api/jobapi/nf-jobapi-isprocessinjob
    IsProcessInJob: bind<(process: Handle, job: Handle, result: [number]) => number>(
      'int __stdcall IsProcessInJob(intptr_t process, intptr_t job, _Out_ int *result)',
    ),
  };
});
