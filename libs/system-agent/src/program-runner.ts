import { messageOf, type HostExit } from '@wins/base';
import path from 'node:path';
import { abortedBy, AgentError } from './agent-error.js';
import type { ProgramCommand, ProgramRunner } from './ports.js';

/** Runs each command in its own process tree. Implemented by `CommandRunner` of `@wins/process-manager`. */
export interface CommandTrees {
  /** Resolves when the command has ended; ends its whole tree when the signal aborts. */
  run(
    command: Omit<ProgramCommand, 'env'> & { readonly env: Readonly<Record<string, string>> },
    options: { readonly signal: AbortSignal },
  ): Promise<HostExit>;
}

/** Go's exit code of a program that a signal ended. */
const BY_SIGNAL = -1;

/**
 * Passes this process's environment, including proxy variables, to programs, as the Go agent does. This is safe, because a plan
 * is as trusted as the service.
 * @param commands - Closed by the caller.
 */
export function programRunner(
  commands: CommandTrees,
  environment: NodeJS.ProcessEnv = process.env,
): ProgramRunner {
  const own = Object.entries(environment).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  const isWindows = process.platform === 'win32';
  const [, searched = ''] =
    own.find(([name]) => (isWindows ? name.toUpperCase() : name) === 'PATH') ?? [];
  return {
    // Skip relative folders: they depend on the current folder of this process.
    searchPath: searched.split(path.delimiter).filter((folder) => path.isAbsolute(folder)),
    environment: Object.fromEntries(own),
    run: async ({ env, ...command }, { signal }) => {
      try {
        const exit = await commands.run({ ...command, env: variables(env) }, { signal });
        return exit.signal === undefined ? exit.code : BY_SIGNAL;
      } catch (cause) {
        if (signal.aborted) throw abortedBy(signal, 'run a program');
        throw new AgentError('refused', messageOf(cause), { cause });
      }
    },
  };
}

/** Omits an entry without `=`, which Node cannot pass on. On Windows a name may begin with `=`. */
function variables(entries: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    entries.flatMap((entry) => {
      const end = entry.indexOf('=', 1);
      return end === -1 ? [] : [[entry.slice(0, end), entry.slice(end + 1)] as const];
    }),
  );
}
