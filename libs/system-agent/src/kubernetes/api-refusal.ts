import { retryAfterMs } from '@wins/net';
import { escapeText } from '@wins/wins-program';
import { AgentError, type AgentErrorCode } from '../agent-error.js';

/** An answer that is not what was asked for. */
export interface ApiRefusal {
  /** Of HTTP, or of a Status in a watch; undefined when there was no answer, or one that cannot be read. */
  readonly status?: number;
  readonly error: AgentError;
  /** How long the server asks us to wait. */
  readonly retryAfterMs?: number;
}

const CODES: ReadonlyMap<number, AgentErrorCode> = new Map([
  [401, 'unauthorized'],
  [403, 'forbidden'],
  [404, 'notFound'],
  [409, 'conflict'],
  [410, 'expired'],
  [413, 'tooLarge'],
]);

/**
 * What a status of HTTP with its body means. A 422 is `tooLarge` when a field of the object is too long, and `refused` otherwise.
 *
 * @param what - What was asked, as the end of "cannot".
 * @param body - A Status, if the server is one of Kubernetes; a proxy before it may send anything.
 * @param given - The header `Retry-After`, and the token, which is kept out of the message.
 */
export function apiRefusal(
  what: string,
  status: number,
  body: unknown,
  { retryAfter, token }: { readonly retryAfter?: string; readonly token?: string } = {},
): ApiRefusal {
  const { message, causes } = readStatus(body);
  const code = status === 422 && isTooLong(causes) ? 'tooLarge' : (CODES.get(status) ?? 'refused');
  const shown = token === undefined ? message : message?.replaceAll(token, '[token]');
  const said = shown === undefined ? '' : `: ${escapeText(shown, { maxLength: 512 })}`;
  const waitMs = retryAfterMs(retryAfter, Date.now());
  return {
    status,
    error: new AgentError(code, `cannot ${what}: the API server answered ${status}${said}`),
    ...(waitMs !== undefined && { retryAfterMs: waitMs }),
  };
}

function readStatus(body: unknown): { message?: string; causes: unknown } {
  const { message, details } = (body ?? {}) as {
    message?: unknown;
    details?: { causes?: unknown };
  };
  return { ...(typeof message === 'string' && { message }), causes: details?.causes };
}

function isTooLong(causes: unknown): boolean {
  return (
    Array.isArray(causes) &&
    causes.some((cause: { reason?: unknown } | null) => cause?.reason === 'FieldValueTooLong')
  );
}
