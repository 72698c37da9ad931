import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import { HttpClient, publicRoots, type HttpRequest } from '@wins/net';

const MOST_ANSWER_BYTES = 64 * 1024;

/** How spans are posted. */
export interface PostOptions {
  readonly address: string;
  readonly timeoutMs: number;
  readonly onChange?: ((isTaken: boolean, reason?: Error) => void) | undefined;
}

/**
 * Posts batches of spans, each once: a batch that is not taken is dropped, and the next one tries again. The exporter of OpenTelemetry loads its HTTP by
 * `import()`, which the packaged executables refuse, and follows variables of the environment.
 */
export function spanPoster({ address, timeoutMs, onChange }: PostOptions): SpanExporter {
  const closed = new AbortController();
  const client = new HttpClient({
    ...{ environment: {}, tries: 1, keptConnections: 1, signal: closed.signal },
    limits: { totalMs: timeoutMs },
  });
  const url = new URL(address);
  const request: HttpRequest = {
    ...{ url, method: 'POST', headers: { 'content-type': 'application/json' } },
    ...{ isDirect: true, redirects: 'none' },
    trust: { roots: url.protocol === 'https:' ? publicRoots() : [] },
    // For a connection that the collector has closed meanwhile: a span that comes twice has the same id.
    isRepeatable: true,
  };
  let wasTaken: boolean | undefined;
  const told = (isTaken: boolean, reason?: Error): void => {
    if (isTaken !== wasTaken) onChange?.(isTaken, reason);
    wasTaken = isTaken;
  };
  return {
    export: (spans: ReadableSpan[], done: (result: ExportResult) => void) => {
      const body = JsonTraceSerializer.serializeRequest(spans) ?? new Uint8Array();
      post(client, request, body).then(
        () => {
          told(true);
          done({ code: ExportResultCode.SUCCESS });
        },
        (reason: unknown) => {
          const error = reason instanceof Error ? reason : new Error(String(reason));
          told(false, error);
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

async function post(client: HttpClient, request: HttpRequest, body: Uint8Array): Promise<void> {
  using answer = await client.open({ ...request, body }, 'send spans');
  const { status } = answer;
  let leftBytes = MOST_ANSWER_BYTES;
  for await (const part of answer.body({ maxBytes: Infinity, mayBeEncoded: true })) {
    leftBytes -= part.length;
    if (leftBytes < 0) break;
  }
  if (status < 200 || status >= 300)
    throw new Error(`cannot send spans: the collector answered ${status}`);
}
