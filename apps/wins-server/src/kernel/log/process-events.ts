import type { ManagerEvent } from '@wins/process-manager';
import type { Logger } from './logger.js';

/** Events that need an operator. Others a client can cause at will, such as a start that fails. */
const PROBLEMS = new Set<ManagerEvent['type']>([
  'treeNotGone',
  'portsNotOpened',
  'portsNotClosed',
  'leftoverNotGone',
  'recordIgnored',
]);

const MESSAGES: Readonly<Record<ManagerEvent['type'], string>> = {
  started: 'a run has started',
  ended: 'a run has ended',
  startFailed: 'the system did not start the program of a run',
  treeNotGone: 'cannot end all processes of a run',
  outputCutOff: 'the output of a run was cut off: another process keeps its pipe open',
  portsNotOpened: 'the ports of a run were not opened: the firewall filters nothing',
  portsNotClosed: 'cannot close the firewall ports of a run',
  leftoverEnded: 'ended a process of an earlier daemon',
  leftoverNotGone: 'cannot end a process of an earlier daemon',
  recordIgnored: 'ignored an unreadable record of an earlier run',
};

/** Writes an event of the process manager to the log: a problem as a warning, an error with its message. */
export function logProcessEvent(logger: Logger, event: ManagerEvent): void {
  const level = PROBLEMS.has(event.type) ? 'warn' : 'info';
  const message = MESSAGES[event.type];
  if (!('error' in event)) {
    logger[level](event, message);
    return;
  }
  // The one name under which pino writes out what an error says.
  const { error: err, ...facts } = event;
  logger[level]({ ...facts, err }, message);
}
