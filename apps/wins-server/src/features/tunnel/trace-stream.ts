import { TunnelError, type TunnelStream } from '@wins/tcp-tunnel';
import type { Logger } from '../../kernel/log/logger.js';

/** Logs the start and the end of a tunnel stream at debug level, never its bytes. */
export function traceStream(
  logger: Logger,
  stream: TunnelStream,
  { requester, port }: { readonly requester: string; readonly port: number },
): void {
  if (!logger.isLevelEnabled('debug')) return;
  const which = { requester, stream: String(stream.id), port };
  const beganAt = performance.now();
  let code: string | undefined;
  logger.debug(which, 'stream begins');
  stream.once('error', (error) => {
    code = error instanceof TunnelError ? error.code : 'unknown';
  });
  stream.once('close', () => {
    // Both counts are from the dialled program's side: it reads the client's bytes and writes its own.
    const { bytesRead: fromClient, bytesWritten: toClient } = stream;
    const ms = Math.round((performance.now() - beganAt) * 10) / 10;
    logger.debug({ ...which, ms, fromClient, toClient, ...(code && { code }) }, 'stream ended');
  });
}
