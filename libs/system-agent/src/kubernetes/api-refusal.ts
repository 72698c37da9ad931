import { retryAfterMs } from '@wins/net';
import { escapeText } from '@wins/base';
import { AgentError, type AgentErrorCode } from '../agent-error.js';

const CODES: ReadonlyMap<number, AgentErrorCode> = new Map([
  [401, 'unauthorized'],
  [403, 'forbidden'],
  [404, 'notFound'],
  [409, 'conflict'],
  [410, 'expired'],
  [413, 'tooLarge'],
]);

export interface Refused {
  /** The operation, to complete "cannot". */
  readonly what: string;
  readonly status: number;
  /** A Status of Kubernetes, or anything from a proxy. */
  readonly body: unknown;
  readonly retryAfter?: string | undefined;
  /** Masked in the message. */
  readonly token?: string | undefined;
}

/**
 * Builds the error for an HTTP status. A 422 is `tooLarge` when a field of the object is too long, otherwise
 * `refused`.
 */
export function apiRefusal({ what, status, body, retryAfter, token }: Refused): AgentError {
  const { message, causes } = readStatus(body);
  const code = status === 422 && isTooLong(causes) ? 'tooLarge' : (CODES.get(status) ?? 'refused');
  const shown = token === undefined ? message : message?.replaceAll(token, '[token]');
  const said = shown === undefined ? '' : `: ${escapeText(shown, { maxLength: 512 })}`;
  return new AgentError(code, `cannot ${what}: the API server answered ${status}${said}`, {
    ...{ status, retryAfterMs: retryAfterMs(retryAfter, Date.now()) },
  });
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
