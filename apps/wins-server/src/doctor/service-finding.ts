import type { ServiceStatus } from '@wins/windows-host';
import { EXIT, SERVICE_NAME } from '@wins/base';
import { ok, problem, type Reported } from '../kernel/conditions/condition.js';

export interface SeenService extends Pick<
  ServiceStatus,
  'state' | 'pid' | 'win32ExitCode' | 'serviceExitCode'
> {
  readonly startType: string;
  readonly commandLine: string;
  readonly logFolder: string;
}

export function serviceFinding(seen: SeenService): Reported {
  const { state, pid, startType, commandLine, logFolder } = seen;
  const found = `${SERVICE_NAME} is ${state}, starts ${startType}: ${commandLine}`;
  if (state !== 'stopped') return ok('service', `${found} (process ${pid})`);
  const why = `for the reason see its log, ${logFolder}, and the event log`;
  const advice =
    seen.serviceExitCode === EXIT.server.config
      ? `fix the config (wins srv config check), then start it: sc.exe start ${SERVICE_NAME}; ${why}`
      : `start it: sc.exe start ${SERVICE_NAME}; ${why}`;
  return problem('service', 'serviceStopped', `${found}; ${lastExit(seen)}`, advice);
}

/** If the service set its own exit code, the Win32 code reveals only that fact. */
function lastExit({ win32ExitCode, serviceExitCode }: SeenService): string {
  return serviceExitCode === 0
    ? `its Win32 exit code was ${win32ExitCode}`
    : `its last exit code was ${serviceExitCode}`;
}
