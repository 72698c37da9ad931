import { ProcessError, type ProcessHost } from '@wins/process-manager';
import { jobObjectProcessHost } from '@wins/windows-host';
import { RUN_MARKER_VARIABLE } from '@wins/wins-program';

/**
 * A host of job objects that fails in the words of the process manager, and marks what it runs, as elsewhere: by the mark the
 * helper of an upgrade knows that it has to leave its job.
 */
export function windowsProcessHost(): ProcessHost {
  const host = jobObjectProcessHost({
    failure: (code, message, details) => new ProcessError(code, message, details),
  });
  return {
    ...host,
    start: ({ mark, ...command }) =>
      host.start({ ...command, env: { ...command.env, [RUN_MARKER_VARIABLE]: mark } }),
  };
}
