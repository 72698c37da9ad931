import type { CallEvent } from '@wins/wins-api';
import type { ClientLog } from '../client-log.js';

export function traceCalls(log: ClientLog, address: string): (event: CallEvent) => void {
  return (event) => {
    switch (event.kind) {
      case 'connecting':
        log.debug('connecting', { address });
        return;
      case 'connected':
        log.debug('connected', { ms: event.ms });
        return;
      case 'called':
        log.debug(`call ${event.method}`, { call: event.call });
        return;
      case 'ended': {
        const { method, call, ms, error } = event;
        log.debug(`${error === undefined ? 'answer to' : 'no answer to'} ${method}`, {
          call,
          ms,
          error,
        });
      }
    }
  };
}
