import path from 'node:path';
import { thisSystem } from '../this-system.js';
import type { DoctorHost } from '../kernel/doctor-host.js';
import { localDoctorHost } from './local-doctor-host.js';

export async function thisDoctorHost(
  named: string | undefined,
  eventsSince?: Date,
): Promise<DoctorHost> {
  const host =
    process.platform === 'win32'
      ? (await import('./windows-doctor-host.js')).windowsDoctorHost
      : localDoctorHost;
  const config = named === undefined ? undefined : path.resolve(named);
  const executable = process.argv[1] ?? process.execPath;
  return host({ config, executable, eventsSince, system: await thisSystem() });
}
