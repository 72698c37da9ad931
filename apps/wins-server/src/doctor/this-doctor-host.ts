import path from 'node:path';
import { thisSystem } from '../this-system.js';
import type { DoctorHost } from '../kernel/doctor-host.js';
import { localDoctorHost } from './local-doctor-host.js';
import { windowsDoctorHost } from './windows-doctor-host.js';

/** The caller closes it. */
export function thisDoctorHost(
  named: string | undefined,
  eventsSince?: Date,
): DoctorHost & AsyncDisposable {
  const host = process.platform === 'win32' ? windowsDoctorHost : localDoctorHost;
  const config = named === undefined ? undefined : path.resolve(named);
  const executable = process.argv[1] ?? process.execPath;
  return host({ config, executable, eventsSince, system: thisSystem() });
}
