import { closeSync } from 'node:fs';
import { Socket, type SocketConstructorOpts } from 'node:net';
import { loadCLibrary } from '../c-library.js';

// Constants of pipe2(2) and fcntl(2), as on most architectures.
const O_CLOEXEC = 0o2_000_000;
const F_SETPIPE_SZ = 1031;
/** Capacity of a pipe, enlarged to wake its reader less often. Unprivileged programs may set up to 1 MiB. */
const PIPE_BYTES = 256 * 1024;
/** Size of one read. A larger read would delay a pause; Node's own sockets use the same size. */
const READ_BYTES = 64 * 1024;

export interface OutputPipe {
  /** The caller destroys it. */
  readonly stream: Socket;
  /** The caller closes it once the child has inherited it; otherwise the stream never ends. */
  readonly childEnd: number;
}

type PipeCalls = Pick<ReturnType<typeof loadCLibrary>, 'pipe2' | 'fcntl'>;

let calls: PipeCalls | 'none' | undefined;
let sharedBuffer: Buffer | undefined;

/**
 * Creates a pipe that only one child inherits. Node itself gives a child a Unix socket, which costs twice as much processor time, and which
 * the child cannot open again as `/dev/stdout`.
 *
 * @param reusesBuffer - As in `StartOptions`.
 * @returns Undefined if the system cannot create one.
 */
export function openOutputPipe(reusesBuffer: boolean): OutputPipe | undefined {
  calls ??= loadCalls();
  if (calls === 'none') return undefined;
  const ends: [number, number] = [-1, -1];
  if (calls.pipe2(ends, O_CLOEXEC) !== 0) return undefined;
  const [ours, childEnd] = ends;
  // If the system refuses, the pipe keeps its 64 KiB.
  calls.fcntl(childEnd, F_SETPIPE_SZ, 'int', PIPE_BYTES);
  try {
    return { stream: reusesBuffer ? borrowedSocket(ours) : new Socket(readOnly(ours)), childEnd };
  } catch {
    for (const end of ends) closeSync(end);
    return undefined;
  }
}

const readOnly = (fd: number) => ({ fd, readable: true, writable: false });

function borrowedSocket(fd: number): Socket {
  const buffer = (sharedBuffer ??= Buffer.allocUnsafeSlow(READ_BYTES));
  const onread = {
    buffer,
    callback: (size: number): boolean => socket.emit('data', buffer.subarray(0, size)),
  };
  // Node documents `onread` for `net.Socket`, but its types lack it.
  const socket: Socket = new Socket({ ...readOnly(fd), onread } as SocketConstructorOpts);
  return socket.pause();
}

function loadCalls(): PipeCalls | 'none' {
  try {
    return loadCLibrary();
  } catch {
    return 'none';
  }
}
