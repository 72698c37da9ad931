import { processAccount, type ProcessAccount } from '../access/process-account.js';
import { unlessFails } from '../windows-error.js';
import { kernel32, type Handle } from '../win32/kernel32.js';

/** Who is at the other end of an instance of a pipe that this process serves. No client can choose any of it. */
export interface PipeClient {
  /** The process that opened it. It may have ended since. */
  readonly pid: number;
  /** The session of that process: 0 is that of the host's services; a container has sessions of its own. */
  readonly session: number | undefined;
  /** In whose name it runs; `undefined` when it has ended, or may not be looked at. */
  readonly account: ProcessAccount | undefined;
}

/** Who opened this instance; `undefined` when it has gone before it could be asked for. */
export function pipeClient(pipe: Handle): PipeClient | undefined {
  const pid: [number] = [0];
  if (kernel32.GetNamedPipeClientProcessId(pipe, pid) === 0) return undefined;
  const session: [number] = [0];
  const hasSession = kernel32.GetNamedPipeClientSessionId(pipe, session) !== 0;
  return {
    pid: pid[0],
    session: hasSession ? session[0] : undefined,
    account: unlessFails(() => processAccount(pid[0])),
  };
}
