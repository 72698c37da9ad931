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

/** Options whose values are not secret. */
const SHOWN: ReadonlySet<string> = new Set([
  'config',
  'log-file-size',
  'log-files',
  'profile',
  'profile-output',
]);

export function serviceFinding(seen: SeenService): Reported {
  const { state, pid, startType, commandLine, logFolder } = seen;
  const found = `${SERVICE_NAME} is ${state}, starts ${startType}: ${shownCommand(commandLine)}`;
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

/** Removes the values of options that may hold secrets. */
export function shownCommand(commandLine: string): string {
  let isShown = true;
  return (commandLine.match(/"[^"]*"|\S+/g) ?? [])
    .map((word) => {
      const [, option, value] = /^"?--?([a-z-]+)(?:=(.*)|"?)$/s.exec(word) ?? [];
      const isHidden = option === undefined ? !isShown : value !== undefined && !SHOWN.has(option);
      // A word after an option may be its value.
      if (option !== undefined) isShown = value === undefined && SHOWN.has(option);
      if (!isHidden) return word;
      return option === undefined ? '[removed]' : `--${option}=[removed]`;
    })
    .join(' ');
}
