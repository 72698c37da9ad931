import { DEFAULT_PROXY_PIPE_NAME, errnoOf, formatDuration, messageOf } from '@wins/base';
import { ASK_DOCTOR } from '../daemon/trusted-pipe.js';

const OTHER_PIPE = `check that it is the tunnel pipe (--proxy ${DEFAULT_PROXY_PIPE_NAME}) and not the main pipe, or ${ASK_DOCTOR}`;

/** Keeps errors of ws and Node only as the `cause`, because they mention HTTP, which the user never chose. */
export function handshakeFailure(pipe: string, cause: unknown, timeoutMs: number): Error {
  if (cause instanceof Error && cause.name === 'TimeoutError')
    return handshakeTimeout(pipe, timeoutMs);
  return new Error(`no tunnel on pipe "${pipe}": ${foundIn(cause)}`, { cause });
}

export function handshakeTimeout(pipe: string, timeoutMs: number): Error {
  const found = `no answer within ${formatDuration(timeoutMs)}`;
  return new Error(
    `no tunnel on pipe "${pipe}": ${found}; the daemon may be frozen or busy. Wait longer with --timeout, or ${ASK_DOCTOR}`,
  );
}

function foundIn(cause: unknown): string {
  const [, status] = /^Unexpected server response: (\d+)$/.exec(messageOf(cause)) ?? [];
  if (status === '503')
    return `the daemon accepts no more tunnels now. Try again later, or ${ASK_DOCTOR}`;
  if (status !== undefined) return `its server answered with HTTP status ${status}; ${OTHER_PIPE}`;
  if (/^HPE_/.test(errnoOf(cause) ?? '')) return `its server does not speak HTTP/1; ${OTHER_PIPE}`;
  return `its server closed the connection; ${OTHER_PIPE}`;
}
