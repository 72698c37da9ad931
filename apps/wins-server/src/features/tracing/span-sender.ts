import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, TraceFlags } from '@opentelemetry/api';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, TracerProvider, type SpanExporter } from '@opentelemetry/sdk-trace';
import { otlpAddress } from './otlp-address.js';
import { spanPoster } from './post-spans.js';
import type { TraceContext } from './trace-context.js';

const MOST_WAITING = 2_048;
const MOST_AT_ONCE = 256;
const GATHER_MS = 1_000;
const POST_TIMEOUT_MS = 5_000;
const CLOSE_MS = 2_000;

/** How spans are sent; the endpoint and who sends must be given. */
export interface SpanSenderOptions {
  /** `http://127.0.0.1:4318`: of the collector, or the whole address. */
  readonly endpoint: string;
  readonly service: { readonly name: string; readonly version: string; readonly host: string };
  /** Told whether the collector takes spans, at first and when that changes. It must not throw. */
  readonly onChange?: (isTaken: boolean, reason?: Error) => void;
  /** How long spans are gathered, in milliseconds. Default 1,000. */
  readonly gatherMs?: number;
}

/** A call that was answered for a client. */
export interface ServerSpan {
  readonly name: string;
  /** Whose part it is. */
  readonly context: TraceContext;
  /** Milliseconds since 1970. */
  readonly startedAtMs: number;
  readonly durationMs: number;
  readonly attributes: Readonly<Record<string, string | number>>;
  readonly hasFailed: boolean;
}

/**
 * Sends spans to a collector, by OTLP/HTTP in JSON. Nobody waits for it: 2,048 spans wait at most, those beyond are dropped, and a collector that
 * does not answer within 5 s has not taken them. The library keeps nothing global.
 */
export class SpanSender implements AsyncDisposable {
  readonly #provider: TracerProvider;
  readonly #exporter: SpanExporter;
  #isTaken = true;
  #closing: Promise<void> | undefined;

  /** @throws FeatureError `invalidEndpoint`. */
  constructor({ endpoint, service, onChange, gatherMs = GATHER_MS }: SpanSenderOptions) {
    const address = otlpAddress(endpoint);
    const exporter = spanPoster({
      ...{ address, timeoutMs: POST_TIMEOUT_MS },
      onChange: (isTaken, reason) => {
        this.#isTaken = isTaken;
        onChange?.(isTaken, reason);
      },
    });
    this.#exporter = exporter;
    this.#provider = new TracerProvider({
      resource: resourceFromAttributes({
        'service.name': service.name,
        'service.version': service.version,
        'host.name': service.host,
      }),
      spanProcessors: [
        new BatchSpanProcessor({
          exporter,
          maxQueueSize: MOST_WAITING,
          maxExportBatchSize: MOST_AT_ONCE,
          scheduledDelayMillis: gatherMs,
          exportTimeoutMillis: POST_TIMEOUT_MS,
        }),
      ],
    });
  }

  /** Sends a span with the next batch. Never throws; a closed sender drops it. */
  send({ name, context, startedAtMs, durationMs, attributes, hasFailed }: ServerSpan): void {
    if (this.#closing !== undefined) return;
    const { traceId, parentId: spanId } = context;
    const parent = { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true };
    const options = { kind: SpanKind.SERVER, startTime: startedAtMs, attributes };
    const span = this.#provider
      .getTracer('wins')
      .startSpan(name, options, trace.setSpanContext(ROOT_CONTEXT, parent));
    if (hasFailed) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end(startedAtMs + durationMs);
  }

  /** Sends what waits, for 2 s at most, and closes. Idempotent; never rejects. */
  close(): Promise<void> {
    return (this.#closing ??= this.#end());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #end(): Promise<void> {
    // A collector that takes nothing is not waited for.
    if (this.#isTaken) {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, CLOSE_MS)));
      await Promise.race([late, this.#provider.forceFlush().catch(() => undefined)]);
      clearTimeout(timer);
    }
    // What is still on its way ends now, and what waits is not sent.
    await this.#exporter.shutdown();
    await this.#provider.shutdown().catch(() => undefined);
  }
}
