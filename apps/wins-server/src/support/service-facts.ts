import { SERVICE_NAME } from '@wins/base';
import { shownCommand } from '../doctor/service-finding.js';

/** @throws Error on systems other than Windows. */
export async function serviceFacts(): Promise<object> {
  if (process.platform !== 'win32')
    throw new Error('cannot query the service: this system has no Windows services');
  const { serviceControlManager } = await import('@wins/windows-host');
  const services = serviceControlManager();
  const { state, pid, win32ExitCode, serviceExitCode } = services.status(SERVICE_NAME);
  const { commandLine, startType, dependencies, account, failurePolicy } =
    services.config(SERVICE_NAME);
  return {
    name: SERVICE_NAME,
    state,
    pid,
    win32ExitCode,
    serviceExitCode,
    startType,
    dependencies,
    account,
    failurePolicy,
    command: shownCommand(commandLine),
  };
}
