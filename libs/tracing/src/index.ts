/**
 * Takes up the trace of a client (W3C Trace Context), and sends spans to a collector by OTLP over HTTP.
 *
 * It owns: reading a `traceparent`, and the queue, batches and posts of spans, with the SDK of OpenTelemetry. It does not own: what a span is
 * about.
 *
 * @example
 * const context = parseTraceparent('00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01');
 * await using sender = new SpanSender({ endpoint: 'http://127.0.0.1:4318', service });
 * if (context?.isSampled) sender.send({ ...call, context });
 * @module
 */
export { SpanSender, type ServerSpan, type SpanSenderOptions } from './span-sender.js';
export { parseTraceparent, type TraceContext } from './trace-context.js';
export { TracingError, type TracingErrorCode } from './tracing-error.js';
