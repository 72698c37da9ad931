import type { Logger } from './logger.js';

interface Warning extends Error {
  readonly code?: string;
  readonly detail?: string;
}

/** Sends the warnings of the process, such as those of failed callbacks, to the log and not to standard error. Listens until disposal. */
export function logWarnings(logger: Pick<Logger, 'error' | 'warn'>): Disposable {
  const before = process.listeners('warning');
  const onWarning = (err: Warning): void => {
    const { code, detail } = err;
    if (code === 'WINS_CALLBACK_FAILED')
      logger.error({ code, detail }, 'a callback failed, which is a defect');
    else logger.warn({ err, code, detail }, 'Node warns');
  };
  process.removeAllListeners('warning').on('warning', onWarning);
  return {
    [Symbol.dispose]: () => {
      process.off('warning', onWarning);
      for (const listener of before) process.on('warning', listener);
    },
  };
}
