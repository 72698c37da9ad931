import type { ManagerEvent } from '@wins/process-manager';
import type { Logger } from './logger.js';

/** Events that need an operator. Others a client can cause at will, such as a start that fails. */
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
