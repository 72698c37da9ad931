import type { TunnelStream } from '@wins/tcp-tunnel';

const SLOW_MS = 15_000;

/**
 * Calls back when a program to which bytes were sent has sent none back within 15 s of the begin of its stream: the system accepts
 * connections for a program that hangs.
 */
export function noticeSilence(stream: TunnelStream, isSilent: () => void): void {
  const timer = setTimeout(() => {
    // From the side of the program that was dialled: what the client sent is what the stream received.
    if (stream.bytesRead > 0 && stream.bytesWritten === 0) isSilent();
  }, SLOW_MS);
  timer.unref();
  stream.once('close', () => clearTimeout(timer));
}
