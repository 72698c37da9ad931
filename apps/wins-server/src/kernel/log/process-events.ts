import type { ManagerEvent } from '@wins/process-manager';
import type { Logger } from './logger.js';

/** `warn` marks events that an operator needs to see. Events that clients can cause at will, such as a failed start, are logged as `info`. */
const MESSAGES: Readonly<Record<ManagerEvent['type'], readonly [message: string, level?: 'warn']>> =
  {
    started: ['a run has started'],
    ended: ['a run has ended'],
    startFailed: ['the system did not start the program of a run'],
    treeNotGone: ['cannot end all processes of a run', 'warn'],
    filesNotRemoved: ['cannot remove the files of a run', 'warn'],
    outputCutOff: ['the output of a run was cut off: another process keeps its pipe open'],
    portsNotOpened: ['the ports of a run were not opened: the firewall filters nothing', 'warn'],
    portsNotClosed: ['cannot close the firewall ports of a run', 'warn'],
    leftoverEnded: ['ended a process of an earlier daemon'],
    leftoverNotGone: ['cannot end a process of an earlier daemon', 'warn'],
    recordIgnored: ['ignored an unreadable record of an earlier run', 'warn'],
  };

export function logProcessEvent(logger: Logger, event: ManagerEvent): void {
  const [message, level = 'info'] = MESSAGES[event.type];
  // pino writes the details of an error only under the name `err`.
  const { error: err, ...facts } = { error: undefined, ...event };
  logger[level]({ ...facts, ...('error' in event && { err }) }, message);
}
