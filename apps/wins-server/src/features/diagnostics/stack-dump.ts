import { quoteText, SERVICE_NAME, type Answer } from '@wins/base';
import { serviceControlManager, signalEvent, WindowsError } from '@wins/windows-host';
import path from 'node:path';
import { stackDumpEvent, stackDumpFile } from './write-stack-dump.js';
import { serviceLogFolder } from '../../kernel/log/windows-service-log.js';

export interface StackDumpOptions {
  /** Default: the process of the service. */
  readonly pid: number | undefined;
}

/** Signals the service to write its stacks to a file, which appears within seconds. @throws WindowsError; `unavailable` outside Windows. */
export function requestStackDump(options: StackDumpOptions): Answer {
  if (process.platform !== 'win32') {
    const message = `cannot dump stacks: this is ${process.platform}, not Windows. Use "wins srv debug stacks"`;
    throw new WindowsError('unavailable', message);
  }
  const pid = options.pid ?? serviceControlManager().status(SERVICE_NAME).pid;
  if (pid === 0) {
    const message = `cannot dump stacks: the service ${SERVICE_NAME} is not running`;
    throw new WindowsError('unavailable', message);
  }
  signalEvent(stackDumpEvent(pid));
  const file = path.win32.join(serviceLogFolder(), stackDumpFile(pid));
  return { value: { pid, file }, text: `${quoteText(file)}\n`, names: [file] };
}
