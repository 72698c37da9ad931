import type { TunnelStream } from '@wins/tcp-tunnel';

const SLOW_MS = 15_000;

/**
 * Calls `isSilent` when a program has received bytes but sent none within 15 s. The system accepts connections for a hanging program, so only silence
 * reveals the hang.
 */
export function noticeSilence(stream: TunnelStream, isSilent: () => void): void {
  const timer = setTimeout(() => {
    // `bytesRead` came from the client, `bytesWritten` from the dialled program.
    if (stream.bytesRead > 0 && stream.bytesWritten === 0) isSilent();
  }, SLOW_MS);
  timer.unref();
  stream.once('close', () => clearTimeout(timer));
}
