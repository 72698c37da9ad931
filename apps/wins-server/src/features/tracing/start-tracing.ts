import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Tracer,
} from '@opentelemetry/api';
import { ExportResultCode } from '@opentelemetry/core';
import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, TracerProvider, type SpanExporter } from '@opentelemetry/sdk-trace';
import type { TracingSettings } from '@wins/config';
import { HttpClient, publicRoots, type HttpRequest } from '@wins/net';
import { VERSION } from '@wins/base';
import { hostname } from 'node:os';
import type { DaemonEvent } from '../../kernel/daemon-events.js';
import type { Kernel, RunningFeature } from '../../kernel/feature.js';

/** Path at which collectors accept spans (OTLP specification, "OTLP/HTTP Request"). */
const PATH = '/v1/traces';
const MOST_WAITING = 2_048;
const MOST_AT_ONCE = 256;
const GATHER_MS = 1_000;
const POST_TIMEOUT_MS = 5_000;
const MOST_ANSWER_BYTES = 64 * 1024;
const CLOSE_MS = 2_000;

/** Sends spans by OTLP/HTTP in JSON. Calls never wait: beyond 2,048 queued spans, further ones are dropped. */
export function startTracing(
  { endpoint }: TracingSettings,
  { logger, events }: Pick<Kernel, 'logger' | 'events'>,
  gatherMs = GATHER_MS,
): RunningFeature<TracingSettings> {
  let isTaken = true;
  const exporter = spanPoster(addressOf(endpoint), (isNow, err) => {
    isTaken = isNow;
    if (isNow) logger.info({ endpoint }, 'the collector takes spans');
    else logger.warn({ endpoint, err }, 'the collector takes no spans: they are dropped');
  });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      'service.name': 'wins',
      'service.version': VERSION,
      'host.name': hostname(),
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
  const tracer = provider.getTracer('wins');
  const subscription = events.subscribe(
    (event) => {
      if (event.type === 'call') send(tracer, event);
    },
    { routine: true },
  );
  const end = async (): Promise<void> => {
    subscription[Symbol.dispose]();
    // Do not wait for a failing collector.
    if (isTaken) {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, CLOSE_MS)));
      await Promise.race([late, provider.forceFlush().catch(() => undefined)]);
      clearTimeout(timer);
    }
    // Aborts pending requests and drops queued spans.
    await exporter.shutdown();
    await provider.shutdown().catch(() => undefined);
    logger.info('spans are no longer sent');
  };
  logger.info({ endpoint }, 'calls of clients that trace are sent as spans');
  let ending: Promise<void> | undefined;
  return { close: () => (ending ??= end()) };
}

function addressOf(endpoint: string): URL {
  const url = new URL(endpoint);
  if (url.pathname === '/') url.pathname = PATH;
  return url;
}

/** The attributes follow the gRPC semantic conventions, and contain no client data. */
function send(tracer: Tracer, event: Extract<DaemonEvent, { type: 'call' }>): void {
  const { method: name, code, ms, trace: context } = event;
  if (context?.isSampled !== true) return;
  const [service = '', method = ''] = name.split('/');
  const attributes = {
    'rpc.system': 'grpc',
    'rpc.service': service,
    'rpc.method': method,
    ...(code !== undefined && { 'rpc.grpc.status_code': code }),
  };
  const { traceId, parentId: spanId } = context;
  const parent = { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true };
  const startTime = Date.now() - ms;
  const options = { kind: SpanKind.SERVER, startTime, attributes };
  const span = tracer.startSpan(name, options, trace.setSpanContext(ROOT_CONTEXT, parent));
  if (code !== 0) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end(startTime + ms);
}

/** Replaces OpenTelemetry's exporter, which obeys environment variables and uses `import()`. Packaged executables refuse `import()`. */
function spanPoster(url: URL, onChange: (isTaken: boolean, reason?: Error) => void): SpanExporter {
  const closed = new AbortController();
  const client = new HttpClient({
    environment: {},
    tries: 1,
    keptConnections: 1,
    signal: closed.signal,
    limits: { totalMs: POST_TIMEOUT_MS },
  });
  const request: HttpRequest = {
    url,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    isDirect: true,
    redirects: 'none',
    trust: { roots: url.protocol === 'https:' ? publicRoots() : [] },
    // Despite `tries: 1`, allows a retry if the kept connection was closed. A duplicate span is harmless: it has the same id.
    isRepeatable: true,
  };
  let wasTaken: boolean | undefined;
  const told = (error?: Error): void => {
    const isTaken = error === undefined;
    if (isTaken !== wasTaken) onChange(isTaken, error);
    wasTaken = isTaken;
  };
  return {
    export: (spans, done) => {
      const body = JsonTraceSerializer.serializeRequest(spans) ?? new Uint8Array();
      post(client, { ...request, body }).then(
        () => {
          told();
          done({ code: ExportResultCode.SUCCESS });
        },
        (reason: unknown) => {
          const error = reason instanceof Error ? reason : new Error(String(reason));
          told(error);
          done({ code: ExportResultCode.FAILED, error });
        },
      );
    },
    forceFlush: () => Promise.resolve(),
    shutdown: () => {
      closed.abort();
      client.close();
      return Promise.resolve();
    },
  };
}

async function post(client: HttpClient, request: HttpRequest): Promise<void> {
  using answer = await client.open(request, 'send spans');
  const { status } = answer;
  let leftBytes = MOST_ANSWER_BYTES;
  for await (const part of answer.body({ maxBytes: Infinity, mayBeEncoded: true })) {
    leftBytes -= part.length;
    if (leftBytes < 0) break;
  }
  if (status < 200 || status >= 300)
    throw new Error(`cannot send spans: the collector answered ${status}`);
}
