import type { CallOptions, RunName, WinsClient } from './wins-client.js';
import type { ProcessName, ProcessStartRequest, ProcessWaitResponse } from './gen/process.js';
import type { KeepAliveHandle } from './keep-alive-handle.js';

/** What to start: the program and a digest of its bytes, which the daemon compares with the host's; all else may be left out. */
export type StartRequest = Partial<ProcessStartRequest> &
  Pick<ProcessStartRequest, 'Path'> &
  (Pick<ProcessStartRequest, 'Checksum'> | Pick<ProcessStartRequest, 'ChecksumSHA256'>);

/** How a program is started. */
export interface StartOptions extends CallOptions {
  /** Gets what the daemon says of a start that succeeded, such as ports that it did not have to open: foreign text. */
  readonly onWarning?: (text: string) => void;
}

/** A client with the calls of the protocol, of which `runProcess` is made. */
export interface RawClient extends WinsClient {
  /** Starts a program. Open `keepAlive` with the name soon: the daemon ends a process that no one keeps. */
  startProcess(request: StartRequest, options?: StartOptions): Promise<ProcessName>;
  /**
   * Follows a process to its end. The call goes out at once; iterate it, once, or abort it. Chunks that are not taken hold up
   * the daemon's side, so memory stays bounded. Output is a view of the received message: copy what you keep for long.
   */
  waitProcess(name: RunName, options?: CallOptions): AsyncIterable<ProcessWaitResponse>;
  /** Holds a process: sends its name at once and every five minutes. The process is stopped when this ends. */
  keepAlive(name: RunName, options?: CallOptions): KeepAliveHandle;
}
