import { SERVICE_NAME } from '@wins/base';

/** Options whose values are not secret. */
const SHOWN: ReadonlySet<string> = new Set(['config', 'log-file-size', 'log-files']);

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

/** Removes the values of options that may hold secrets. */
export function shownCommand(commandLine: string): string {
  let isShown = true;
  return (commandLine.match(/"[^"]*"|\S+/g) ?? [])
    .map((word) => {
      const [, option, value] = /^--?([a-z-]+)(?:=(.*))?$/s.exec(word) ?? [];
      const isHidden = option === undefined ? !isShown : value !== undefined && !SHOWN.has(option);
      // A word after an option may be its value.
      if (option !== undefined) isShown = value === undefined && SHOWN.has(option);
      if (!isHidden) return word;
      return option === undefined ? '[removed]' : `--${option}=[removed]`;
    })
    .join(' ');
}
