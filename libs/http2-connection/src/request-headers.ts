import type { HeaderField } from './hpack/static-table.js';

/** The headers of a request: values of one name are joined by a comma and a blank. Has no prototype. */
export type RequestHeaders = Readonly<Record<string, string>>;

const PSEUDO: ReadonlySet<string> = new Set([':authority', ':method', ':path', ':scheme']);
const REQUIRED = [':method', ':path', ':scheme'] as const;
/** Connection headers of HTTP/1.1, which make a request of HTTP/2 malformed (RFC 9113, section 8.2.2). */
const OF_HTTP1: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
]);
/** Names and values as gRPC allows them: fewer than HTTP does. */
const NAME = /^[0-9a-z_.-]+$/;
const VALUE = /^[ -~]*$/;
/** A number that a double holds; two lengths, joined by a comma, are none. */
const LENGTH = /^\d{1,15}$/;

/**
 * The authority that handlers see. Old clients of Go name the URL of a pipe there, which is none; nobody here
 * decides anything by it.
 */
const AUTHORITY = 'localhost';

/** Judges the headers of a request; undefined when it is malformed, which resets its stream. */
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

/** Octets of DATA that the headers announce; undefined when they announce none. */
export function contentLengthOf(headers: RequestHeaders): number | undefined {
  const length = headers['content-length'];
  return length === undefined ? undefined : Number(length);
}

/** Whether trailers of a request are well formed. What they say is of no use to gRPC. */
export function areTrailers(fields: readonly HeaderField[]): boolean {
  return fields.every(([name, value]) => VALUE.test(value) && isRegular(name, value));
}

function isRegular(name: string, value: string): boolean {
  return NAME.test(name) && !OF_HTTP1.has(name) && (name !== 'te' || value === 'trailers');
}
