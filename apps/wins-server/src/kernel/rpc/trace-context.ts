export interface TraceContext {
  /** 32 hexadecimal digits, not all 0. */
  readonly traceId: string;
  /** The span of the client: 16 hexadecimal digits, not all 0. */
  readonly parentId: string;
  readonly isSampled: boolean;
}

/** Version, trace, parent, flags; a later version may have more (W3C Trace Context, section 3.2). */
const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const NOTHING = /^0+$/;
const LONGEST = 256;
const SAMPLED = 1;

/** Returns undefined for an invalid text, because the standard says to ignore it. */
export function parseTraceparent(text: string | undefined): TraceContext | undefined {
  if (text === undefined || text.length > LONGEST) return undefined;
  const [, version, traceId = '', parentId = '', flags = '', more] = TRACEPARENT.exec(text) ?? [];
  if (version === undefined || version === 'ff') return undefined;
  if (version === '00' && more !== undefined) return undefined;
  if (NOTHING.test(traceId) || NOTHING.test(parentId)) return undefined;
  return { traceId, parentId, isSampled: (parseInt(flags, 16) & SAMPLED) === SAMPLED };
}
