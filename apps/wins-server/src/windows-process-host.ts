import { ProcessError, type ProcessHost } from '@wins/process-manager';
import { jobObjectProcessHost } from '@wins/windows-host';

/** A host of job objects that fails in the words of the process manager. */
export function windowsProcessHost(): ProcessHost {
  return jobObjectProcessHost({
    failure: (code, message, details) => new ProcessError(code, message, details),
  });
}
