import type { HeaderField } from './hpack/static-table.js';

/** Headers of a request, without a prototype. Values of one name are joined by a comma and a space. */
export type RequestHeaders = Readonly<Record<string, string>>;

const PSEUDO: ReadonlySet<string> = new Set([':authority', ':method', ':path', ':scheme']);
const REQUIRED = [':method', ':path', ':scheme'] as const;
/** Connection headers of HTTP/1.1, which make an HTTP/2 request malformed (RFC 9113, section 8.2.2). */
const OF_HTTP1: ReadonlySet<string> = new Set(
  'connection keep-alive proxy-connection transfer-encoding upgrade'.split(' '),
);
/** Names and values that gRPC allows; fewer than HTTP allows. */
const NAME = /^[0-9a-z_.-]+$/;
const VALUE = /^[ -~]*$/;
/** At most 15 digits, which a double represents exactly. A repeated header, joined by a comma, does not match. */
const LENGTH = /^\d{1,15}$/;

/** Handlers always see this authority, because old Go clients send the URL of a pipe, which is not a valid authority. */
const AUTHORITY = 'localhost';

/** Returns undefined for a malformed request; its stream is then reset. */
export function requestHeaders(fields: readonly HeaderField[]): RequestHeaders | undefined {
  const headers = Object.create(null) as Record<string, string>;
  let regular = false;
  for (const [name, value] of fields) {
    if (!VALUE.test(value)) return undefined;
    if (name.startsWith(':')) {
      if (regular || !PSEUDO.has(name) || name in headers) return undefined;
      headers[name] = value;
      continue;
    }
    regular = true;
    if (!isRegular(name, value)) return undefined;
    const known = headers[name];
    headers[name] = known === undefined ? value : `${known}, ${value}`;
  }
  if (REQUIRED.some((name) => (headers[name] ?? '') === '')) return undefined;
  const length = headers['content-length'];
  if (length !== undefined && !LENGTH.test(length)) return undefined;
  headers[':authority'] = AUTHORITY;
  return headers;
}

export function contentLengthOf(headers: RequestHeaders): number | undefined {
  const length = headers['content-length'];
  return length === undefined ? undefined : Number(length);
}

/** Checks only the syntax of names and values, because gRPC does not use trailers in requests. */
export function areTrailers(fields: readonly HeaderField[]): boolean {
  return fields.every(([name, value]) => VALUE.test(value) && isRegular(name, value));
}

function isRegular(name: string, value: string): boolean {
  return NAME.test(name) && !OF_HTTP1.has(name) && (name !== 'te' || value === 'trailers');
}
