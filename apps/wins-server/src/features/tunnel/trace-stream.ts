import { TunnelError, type TunnelStream } from '@wins/tcp-tunnel';
import type { Logger } from '../../kernel/log/logger.js';

/** Logs only at debug level, and never the bytes of a stream. */
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
    const { bytesRead: fromClient, bytesWritten: toClient } = stream;
    const ms = Math.round((performance.now() - beganAt) * 10) / 10;
    logger.debug({ ...which, ms, fromClient, toClient, ...(code && { code }) }, 'stream ended');
  });
}
