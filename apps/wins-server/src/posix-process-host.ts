import { posixProcessHost as processHostOf } from '@wins/linux-host';
import { ProcessError, type ProcessHost } from '@wins/process-manager';

/** A host of sessions and process groups, whose errors are those of the process manager. */
export function posixProcessHost(): ProcessHost {
  return processHostOf({
    failure: (code, message, details) => new ProcessError(code, message, details),
  });
}
