import type { ManagerEvent } from '@wins/process-manager';
import type { Logger } from './logger.js';

/** What somebody must look after. A client can make a start fail at will, and a stranger keep a pipe open. */
const PROBLEMS = new Set<ManagerEvent['type']>([
  'treeNotGone',
  'portsNotClosed',
  'leftoverNotGone',
  'recordIgnored',
]);

/** Writes an event of the process manager to the log: a problem as a warning, an error with its message. */
export function logProcessEvent(logger: Logger, event: ManagerEvent): void {
  const level = PROBLEMS.has(event.type) ? 'warn' : 'info';
  if (!('error' in event)) {
    logger[level](event, 'process');
    return;
  }
  // The one name under which pino writes out what an error says.
  const { error: err, ...facts } = event;
  logger[level]({ ...facts, err }, 'process');
}
