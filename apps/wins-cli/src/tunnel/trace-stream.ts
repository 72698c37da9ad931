import { TunnelError, type TunnelStream } from '@wins/tcp-tunnel';
import type { ClientLog } from '../client-log.js';

/** Logs the start and end of a stream to the `--debug` log, never its bytes. */
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

/** Returns the milliseconds since a time of `performance.now()`, to a tenth. */
export function msSince(beganAt: number): number {
  return Math.round((performance.now() - beganAt) * 10) / 10;
}
