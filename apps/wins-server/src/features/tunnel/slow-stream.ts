import type { TunnelStream } from '@wins/tcp-tunnel';

const SLOW_MS = 15_000;

/**
 * Calls back when a program has received bytes but sent none within 15 s of the stream's start. The system accepts connections on behalf of a hanging
 * program, so only its silence reveals it.
 */
export function noticeSilence(stream: TunnelStream, isSilent: () => void): void {
  const timer = setTimeout(() => {
    // Both counts are from the dialled program's side: it reads the client's bytes and writes its own.
    if (stream.bytesRead > 0 && stream.bytesWritten === 0) isSilent();
  }, SLOW_MS);
  timer.unref();
  stream.once('close', () => clearTimeout(timer));
}
