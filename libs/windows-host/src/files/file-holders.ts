import { escapeText } from '@wins/base';
import { checkStatus, inBackground } from '../win32/calls/call.js';
import { structure, systemLibrary } from '../win32/calls/system-library.js';
import path from 'node:path';
import { processesOf } from '../processes/windows-process.js';
import { unlessFails } from '../windows-error.js';

const MAX_HOLDERS = 8;
const KEY_BYTES = 2 * 33; // CCH_RM_SESSION_KEY and its NUL, in UTF-16
const ERROR_MORE_DATA = 234;

/** https://learn.microsoft.com/windows/win32/api/restartmanager/ns-restartmanager-rm_process_info */
export const RM_PROCESS_INFO = structure(
  'uint32_t processId; uint32_t startedLow; uint32_t startedHigh; char16_t name[256]; char16_t service[64]; uint32_t type; uint32_t status; uint32_t session; int restartable',
);

/** https://learn.microsoft.com/windows/win32/api/restartmanager: each function returns its error code. */
const restartManager = systemLibrary('rstrtmgr.dll', 'the Restart Manager', [
  'uint32_t RmStartSession(_Out_ uint32_t *session, uint32_t flags, void *key)',
  'uint32_t RmRegisterResources(uint32_t session, uint32_t files, str16 *names, uint32_t programs, void *ofPrograms, uint32_t services, void *ofServices)',
  'uint32_t RmGetList(uint32_t session, _Out_ uint32_t *needed, _Inout_ uint32_t *count, void *infos, _Out_ uint32_t *reasons)',
  'uint32_t RmEndSession(uint32_t session)',
]);

/**
 * Names the programs that have a file open, such as `nginx.exe (process 12)`. For more than eight programs, returns only
 * how many there are, such as `9 programs`. Names at least the processes that run the file, even if the Restart Manager cannot tell.
 * Never rejects; returns an empty list on failure.
 */
export async function fileHolders(file: string): Promise<readonly string[]> {
  const holders = await openersOf(file);
  if (holders.length > 0) return holders;
  const runners = unlessFails(() => processesOf(file)) ?? [];
  const name = escapeText(path.win32.basename(file), { maxLength: 100 });
  if (runners.length > MAX_HOLDERS) return [`${runners.length} programs`];
  return runners.map(({ pid }) => `${name} (process ${pid})`);
}

async function openersOf(file: string): Promise<readonly string[]> {
  try {
    const { RmStartSession, RmRegisterResources, RmGetList, RmEndSession } = restartManager;
    const tried = 'cannot find out who holds a file';
    const session: [number] = [0];
    checkStatus(tried, 'RmStartSession', RmStartSession(session, 0, Buffer.alloc(KEY_BYTES)));
    try {
      const registered = RmRegisterResources(session[0], 1, [file], 0, null, 0, null);
      checkStatus(tried, 'RmRegisterResources', registered);
      const count: [number] = [MAX_HOLDERS];
      const infos = Buffer.alloc(MAX_HOLDERS * RM_PROCESS_INFO.sizeBytes);
      const needed: [number] = [0];
      // Runs in the background, because it queries every process of the system.
      const { result } = await inBackground(RmGetList, session[0], needed, count, infos, [0]);
      // The buffer stays empty on ERROR_MORE_DATA, so report the number.
      if (result === ERROR_MORE_DATA) return [`${needed[0]} programs`];
      checkStatus(tried, 'RmGetList', result);
      return holdersIn(infos, count[0]);
    } finally {
      RmEndSession(session[0]);
    }
  } catch {
    return [];
  }
}

export function holdersIn(infos: Buffer, count: number): readonly string[] {
  const { sizeBytes } = RM_PROCESS_INFO;
  const length = Math.min(count, infos.length / sizeBytes);
  return Array.from({ length }, (_, index) => {
    const { name, processId } = RM_PROCESS_INFO.read(infos, index * sizeBytes);
    const shown = escapeText(name, { maxLength: 100 });
    return `${shown === '' ? 'a program' : shown} (process ${processId})`;
  });
}
