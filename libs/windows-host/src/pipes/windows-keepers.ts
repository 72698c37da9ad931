import type { IdentifyClient, PipeSecurity, PipeServerCheck } from '@wins/base';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { startOutsideJobWithOutput } from '../processes/windows-process-start.js';
import { endProcess, processOfText } from '../processes/windows-process.js';
import { WindowsError } from '../windows-error.js';
import { securedPipeClient } from './secured-pipe-client.js';
import { securedPipe } from './secured-pipe.js';
import { windowsClients } from './windows-clients.js';

/** Program that outlives this process: absolute path, arguments, and the only variables that it gets. */
export interface KeeperProgram {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Starts processes that outlive this one, and secures their pipes. */
export interface WindowsKeepers {
  /** Administrators alone may open the pipes. */
  readonly security: PipeSecurity;
  readonly identify: IdentifyClient;
  /** Returns a check that `process` serves a pipe. `process` has the form of `ProcessHost.daemon`. @throws WindowsError. */
  readonly serverCheck: (process: string) => PipeServerCheck;
  /** Starts a program outside the job of this process, without a window or input. @throws WindowsError. */
  readonly start: (program: KeeperProgram) => {
    readonly stdout: Readable;
    readonly kill: () => void;
  };
}

/** Creates the access to keepers on Windows, whose pipes only administrators can open. */
export function windowsKeepers(): WindowsKeepers {
  const security = securedPipe();
  return {
    security,
    identify: windowsClients(security, true),
    serverCheck: (text) => {
      const process = processOfText(text);
      if (process !== undefined) return securedPipeClient({ process });
      const message = 'cannot use a keeper: its record names no process';
      throw new WindowsError('unknown', message);
    },
    start: ({ file, args, env }) => {
      // Windows cannot remove the working directory of a process, so the new process runs in the root of the drive.
      const { root: directory } = path.win32.parse(file);
      const program = { file, argv0: file, args, env, directory };
      const { output: stdout, ...started } = startOutsideJobWithOutput(program);
      return { stdout, kill: () => endProcess(started) };
    },
  };
}
