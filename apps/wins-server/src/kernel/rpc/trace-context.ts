import type { AsyncLocalStorage } from 'node:async_hooks';
import type { EventEmitter } from 'node:events';

export interface TraceContext {
  /** 32 hexadecimal digits, not all 0. */
  readonly traceId: string;
  /** The span of the client: 16 hexadecimal digits, not all 0. */
  readonly spanId: string;
}

/** Version, trace, parent, flags; a later version may have more (W3C Trace Context, section 3.2). */
const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/;
const NOTHING = /^0+$/;
const LONGEST = 256;

/** Returns undefined for an invalid text, because the standard says to ignore it. */
export function parseTraceparent(text: string | undefined): TraceContext | undefined {
  if (text === undefined || text.length > LONGEST) return undefined;
  const [, version, traceId = '', spanId = '', more] = TRACEPARENT.exec(text) ?? [];
  if (version === undefined || version === 'ff') return undefined;
  if (version === '00' && more !== undefined) return undefined;
  if (NOTHING.test(traceId) || NOTHING.test(spanId)) return undefined;
  return { traceId, spanId };
}

/** The trace of the client whose call is in progress. */
export type CurrentTrace = AsyncLocalStorage<TraceContext>;

/** Runs `serve`, and later each listener of the stream, in the trace of its client. Messages arrive outside of it. */
export function serveInTrace(
  trace: TraceContext,
  currentTrace: CurrentTrace,
  stream: EventEmitter,
  serve: () => void,
): void {
  const emit = stream.emit.bind(stream);
  stream.emit = (...event) => currentTrace.run(trace, () => emit(...event));
  currentTrace.run(trace, serve);
}
