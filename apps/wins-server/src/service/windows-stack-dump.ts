import { listenToEvent } from '@wins/windows-host';
import { stackDumpEvent, writeStackDump } from '../features/diagnostics/write-stack-dump.js';
import type { Logger } from '../kernel/log/logger.js';

/** Access for administrators and SYSTEM only, without inherited entries. */
const ADMINISTRATORS_AND_SYSTEM = 'D:P(A;;GA;;;BA)(A;;GA;;;SY)';

/** Writes the stacks at each signal of `Global\stackdump-PID`, as the original does. If that name is taken, the log says so. */
export function listenForStackDump(folder: string, logger: Logger): AsyncDisposable {
  const name = stackDumpEvent(process.pid);
  const failed = (err: unknown): void =>
    logger.error({ err, event: name }, 'cannot dump the stacks');
  const signalled = async (): Promise<void> => {
    const { Diagnostics } = await import('../features/diagnostics/diagnostics.js');
    const file = await writeStackDump(new Diagnostics(), folder);
    logger.info({ file }, 'the stacks are written');
  };
  try {
    const sddl = ADMINISTRATORS_AND_SYSTEM;
    const listener = listenToEvent({ name, sddl, signalled, failed });
    return { [Symbol.asyncDispose]: () => listener.close() };
  } catch (error) {
    failed(error);
    return { [Symbol.asyncDispose]: () => Promise.resolve() };
  }
}
