import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import { request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';

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
  let wasTaken: boolean | undefined;
  const told = (isTaken: boolean, reason?: Error): void => {
    if (isTaken !== wasTaken) onChange?.(isTaken, reason);
    wasTaken = isTaken;
  };
  return {
    export: (spans: ReadableSpan[], done: (result: ExportResult) => void) => {
      const body = JsonTraceSerializer.serializeRequest(spans) ?? new Uint8Array();
      const signal = AbortSignal.any([closed.signal, AbortSignal.timeout(timeoutMs)]);
      post(address, body, signal).then(
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
      return Promise.resolve();
    },
  };
}

function post(address: string, body: Uint8Array, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = address.startsWith('https:') ? requestSecure : requestPlain;
    const headers = { 'content-type': 'application/json', 'content-length': body.length };
    const sent = request(address, { method: 'POST', headers, signal }, (response) => {
      const { statusCode = 0 } = response;
      let answerBytes = 0;
      response.on('data', (part: Buffer) => {
        answerBytes += part.length;
        if (answerBytes > MOST_ANSWER_BYTES) response.destroy();
      });
      response.once('close', () => {
        if (statusCode >= 200 && statusCode < 300) resolve();
        else reject(new Error(`cannot send spans: the collector answered ${statusCode}`));
      });
      response.once('error', reject);
    });
    sent.once('error', reject);
    sent.end(body);
  });
}
