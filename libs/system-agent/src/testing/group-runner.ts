import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { AgentError } from '../agent-error.js';
import type { ProgramRunner } from '../ports.js';

export interface GroupRunnerOptions {
  readonly searchPath?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

/**
 * Runs real programs on POSIX systems, each in a process group that ends when the signal aborts. Unlike on a real host, a
 * process can escape by starting its own session.
 */
export function groupRunner(options: GroupRunnerOptions = {}): ProgramRunner {
  const { searchPath = ['/usr/bin', '/bin'], environment = { LANG: 'C' } } = options;
  return {
    searchPath,
    environment,
    run: async ({ file, args, env, directory, onOutput }, { signal }) => {
      signal.throwIfAborted();
      const pairs = env.map((entry): [string, string] => {
        const end = entry.indexOf('=', 1);
        return end < 0 ? [entry, ''] : [entry.slice(0, end), entry.slice(end + 1)];
      });
      const child = spawn(file, args, {
        cwd: directory,
        env: Object.fromEntries(pairs),
        detached: true,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      child.stdout.on('data', (bytes: Buffer) => onOutput('stdout', bytes));
      child.stderr.on('data', (bytes: Buffer) => onOutput('stderr', bytes));
      const end = (): void => {
        if (child.pid === undefined) return;
        try {
          process.kill(-child.pid, 'SIGKILL');
        } catch {
          // The group has already ended.
        }
      };
      signal.addEventListener('abort', end, { once: true });
      try {
        const [code] = (await once(child, 'close')) as [number | null];
        return code ?? -1;
      } catch (cause) {
        const found = (cause as NodeJS.ErrnoException).code ?? 'an error';
        const message = `cannot start the program: found ${found}; wanted one that starts`;
        throw new AgentError('refused', message, { cause });
      } finally {
        signal.removeEventListener('abort', end);
      }
    },
  };
}
