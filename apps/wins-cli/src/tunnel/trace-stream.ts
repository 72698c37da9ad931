import { TunnelError, type TunnelStream } from '@wins/tcp-tunnel';
import type { ClientLog } from '../client-log.js';

/** Never logs the bytes of the stream. */
export function traceStream(log: ClientLog, stream: TunnelStream, hostPort: number): void {
  if (!log.isDebug) return;
  const which = { stream: String(stream.id), hostPort };
  const beganAt = performance.now();
  let code: string | undefined;
  log.debug('stream begins', which);
  stream.once('error', (error) => {
    code = error instanceof TunnelError ? error.code : 'unknown';
  });
  stream.once('close', () => {
    const { bytesRead: received, bytesWritten: sent } = stream;
    log.debug('stream ended', { ...which, ms: msSince(beganAt), received, sent, code });
  });
}

/** `beganAt` is a time of `performance.now()`. */
export function msSince(beganAt: number): number {
  return Math.round((performance.now() - beganAt) * 10) / 10;
}
