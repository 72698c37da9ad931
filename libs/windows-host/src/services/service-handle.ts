import { parseServiceStatus, type ServiceStatus } from './service-status.js';
import { advapi32 } from '../win32/advapi32.js';
import { call } from '../win32/calls/call.js';
import { OwnedHandle } from '../win32/calls/owned-handle.js';
import { SERVICE_STATUS_PROCESS } from '../win32/structures.js';

const SC_MANAGER_CONNECT = 0x1;

/**
 * Opens a service, works with it and closes it, also when the work is a promise.
 *
 * @param access - The rights that the work needs, and no more.
 * @param purpose - What it is opened for, for an error: `started it`.
 */
export function withService<T>(
  name: string,
  access: number,
  purpose: string,
  act: (service: number) => T,
): T {
  return withManager(SC_MANAGER_CONNECT, (manager) => {
    const tried = `opened the service ${name} and ${purpose}`;
    return using(call(tried, advapi32.OpenServiceW, manager, name, access), act);
  });
}

/** Connects to the service control manager, works with it and closes it. */
export function withManager<T>(access: number, act: (manager: number) => T): T {
  const tried = 'connected to the service control manager';
  return using(call(tried, advapi32.OpenSCManagerW, null, null, access), act);
}

/** Closes the handle when the work is done, also when that is a promise. A service is gone only when no one holds it. */
export function using<T>(handle: number, act: (handle: number) => T): T {
  const owned = new OwnedHandle(handle, (value) => void advapi32.CloseServiceHandle(value));
  let isPending = false;
  try {
    const result = act(owned.value);
    if (!(result instanceof Promise)) return result;
    isPending = true;
    return result.finally(() => owned.close()) as T;
  } finally {
    if (!isPending) owned.close();
  }
}

/** How an open service does; the handle needs SERVICE_QUERY_STATUS. */
export function statusOf(service: number, name: string): ServiceStatus {
  const tried = `asked for the state of the service ${name}`;
  const memory = SERVICE_STATUS_PROCESS.create({});
  call(tried, advapi32.QueryServiceStatusEx, service, 0, memory, memory.length, [0]);
  return parseServiceStatus(memory);
}
