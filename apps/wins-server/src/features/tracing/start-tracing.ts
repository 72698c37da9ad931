/**
 * Spans of the calls of one daemon. Loaded when the config turns tracing on.
 */
import { SpanSender } from './span-sender.js';
import { VERSION } from '@wins/wins-program';
import { hostname } from 'node:os';
import type { DaemonEvent, DaemonEvents } from '../../kernel/daemon-events.js';

/** Spans that are sent. Whoever started it closes it. */
export interface RunningTracing {
  /** Sends what waits, for 2 s at most. Idempotent; never rejects. */
  close(): Promise<void>;
}

/** What tracing works with. */
export interface TracingParts {
  readonly endpoint: string;
  readonly events: DaemonEvents;
  /** Told whether the collector takes spans, at first and when that changes. */
  readonly onChange: (isTaken: boolean, reason?: Error) => void;
}

/** Sends a span for each call whose client records a trace. @throws FeatureError `invalidEndpoint`. */
export function startTracing({ endpoint, events, onChange }: TracingParts): RunningTracing {
  const service = { name: 'wins', version: VERSION, host: hostname() };
  const sender = new SpanSender({ endpoint, service, onChange });
  const subscription = events.subscribe(
    (event) => {
      if (event.type === 'call') send(sender, event);
    },
    { routine: true },
  );
  return {
    close: () => {
      subscription[Symbol.dispose]();
      return sender.close();
    },
  };
}

/** The attributes are those of the semantic conventions for gRPC; nothing in them is of a client. */
function send(sender: SpanSender, event: Extract<DaemonEvent, { type: 'call' }>): void {
  const { method: name, code, ms: durationMs, trace: context } = event;
  if (context?.isSampled !== true) return;
  const [service = '', method = ''] = name.split('/');
  const startedAtMs = Date.now() - durationMs;
  const attributes = {
    ...{ 'rpc.system': 'grpc', 'rpc.service': service, 'rpc.method': method },
    ...(code !== undefined && { 'rpc.grpc.status_code': code }),
  };
  sender.send({ name, context, startedAtMs, durationMs, attributes, hasFailed: code !== 0 });
}
