import { HTTP2_CODE } from '../end-reason.js';
import type { HeaderField } from '../hpack/static-table.js';

/** How a call ended that the server did not answer with a message. */
export interface GrpcStatus {
  /** The number of a gRPC status. */
  readonly status: number;
  /** The words of the server, or ours where it gave none. Text of the server is foreign text. */
  readonly details: string;
}

/** The statuses of gRPC that are made here. */
export const STATUS = {
  ok: 0,
  cancelled: 1,
  unknown: 2,
  permissionDenied: 7,
  resourceExhausted: 8,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const;

// https://github.com/grpc/grpc/blob/master/doc/http-grpc-status-mapping.md
const STATUS_OF_HTTP: Readonly<Record<string, number>> = {
  400: STATUS.internal,
  401: STATUS.unauthenticated,
  403: STATUS.permissionDenied,
  404: STATUS.unimplemented,
  429: STATUS.unavailable,
  502: STATUS.unavailable,
  503: STATUS.unavailable,
  504: STATUS.unavailable,
};

// https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md#errors
const STATUS_OF_RESET: Readonly<Record<number, number>> = {
  [HTTP2_CODE.cancel]: STATUS.cancelled,
  [HTTP2_CODE.enhanceYourCalm]: STATUS.resourceExhausted,
  12: STATUS.permissionDenied,
};

/** What an answer without a gRPC status means, by its status of HTTP. */
export function statusOfHttp(httpStatus: string): GrpcStatus {
  if (httpStatus === '200')
    return { status: STATUS.unknown, details: 'found no gRPC status at the end of the answer' };
  const found = /^\d{3}$/.test(httpStatus) ? httpStatus : 'none';
  const status = STATUS_OF_HTTP[found] ?? STATUS.unknown;
  return { status, details: `found HTTP status ${found}; wanted 200` };
}

/** What RST_STREAM means. */
export function statusOfReset(code: number): GrpcStatus {
  const status = STATUS_OF_RESET[code] ?? STATUS.internal;
  return { status, details: `found the call reset with HTTP/2 code ${code}; wanted an answer` };
}

/** The status among headers; undefined when there is none. */
export function statusOfHeaders(headers: ReadonlyMap<string, string>): GrpcStatus | undefined {
  const found = headers.get('grpc-status');
  if (found === undefined) return undefined;
  const status = /^\d{1,3}$/.test(found) ? Number(found) : STATUS.unknown;
  return { status, details: percentDecoded(headers.get('grpc-message') ?? '') };
}

/** Headers by their names; values of one name are joined by a comma and a blank. */
export function headersByName(fields: readonly HeaderField[]): Map<string, string> {
  const headers = new Map<string, string>();
  for (const [name, value] of fields) {
    const known = headers.get(name);
    headers.set(name, known === undefined ? value : `${known}, ${value}`);
  }
  return headers;
}

/** Octets that are not UTF-8 become the sign for that: a message is for people. */
function percentDecoded(text: string): string {
  if (!text.includes('%')) return text;
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (coded) =>
    Buffer.from(coded.replaceAll('%', ''), 'hex').toString(),
  );
}
