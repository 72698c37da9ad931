import { check, INVALID_HANDLE_VALUE } from '../win32/kernel32.js';
import { OwnedHandle } from '../win32/calls/owned-handle.js';
import { processes, TH32CS_SNAPPROCESS } from '../win32/processes.js';

/** PROCESSENTRY32W. https://learn.microsoft.com/windows/win32/api/tlhelp32/ns-tlhelp32-processentry32w */
const ENTRY_BYTES = 568;
const PROCESS_ID = 8;
const EXE_FILE = 44;

/**
 * Whether the program that started this one is called as the service control manager is. The system tells the name of every
 * process, also of those that may not be asked.
 *
 * @throws WindowsError when the system does not list its processes.
 */
export function isParentServices(parentPid: number = process.ppid): boolean {
  const tried = 'looked for the process that started this one';
  const { CreateToolhelp32Snapshot, Process32FirstW, Process32NextW } = processes();
  const handle = CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0);
  check(handle !== INVALID_HANDLE_VALUE, 'CreateToolhelp32Snapshot', tried);
  const snapshot = new OwnedHandle(handle);
  try {
    const entry = Buffer.alloc(ENTRY_BYTES);
    entry.writeUInt32LE(ENTRY_BYTES, 0);
    check(Process32FirstW(snapshot.value, entry) !== 0, 'Process32FirstW', tried);
    do {
      if (entry.readUInt32LE(PROCESS_ID) !== parentPid) continue;
      const [name = ''] = entry.toString('utf16le', EXE_FILE).split('\0', 1);
      return name.toLowerCase() === 'services.exe';
    } while (Process32NextW(snapshot.value, entry) !== 0);
    return false;
  } finally {
    snapshot.close();
  }
}
