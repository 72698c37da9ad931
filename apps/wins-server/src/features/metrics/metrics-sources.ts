import type { AuditCounts } from '@wins/audit-log';
import type { CsiProxyStateKind } from '@wins/csi-proxy';
import type { ManagedProcess, Measurement } from '@wins/process-manager';
import type { DaemonEvents } from '../../kernel/daemon-events.js';
import type { TunnelFigures } from '../tunnel/tunnel-figures.js';

/** Load of a daemon at this moment. */
export interface DaemonFigures {
  /** Connections of the gRPC pipe. */
  readonly connections: number;
  readonly tunnel: Pick<TunnelFigures, 'connections' | 'sessions' | 'streams' | 'traffic'>;
}

/** What the daemon is asked at each scrape, and what it tells in between. */
export interface MetricsSources {
  readonly events: Pick<DaemonEvents, 'subscribe'>;
  readonly figures: DaemonFigures;
  readonly runs: () => readonly Pick<ManagedProcess, 'state'>[];
  /** What the runs cost that live. Never rejects. */
  readonly measure: () => Promise<Measurement>;
  readonly auditCounts: () => AuditCounts;
  /** When the config in force was read, in milliseconds since 1970. */
  readonly configReadAtMs: () => number;
  /** When the API server of plans answered last, or the agent began; undefined without a remote plan. */
  readonly silentSince: () => Date | undefined;
  readonly probes: () => readonly { readonly name: string; readonly healthy: boolean }[];
  /** Undefined while nothing keeps csi-proxy. */
  readonly csiProxyState: () => CsiProxyStateKind | undefined;
}

/** Metrics that are kept until they are closed. */
export interface RunningMetrics {
  /** All metrics in the text format of Prometheus. */
  scrape(): Promise<string>;
  /** Ends the listener that there is, and begins another. @throws MetricsError */
  listen(settings: { readonly listen: string; readonly allowRemote: boolean }): Promise<string>;
  /** Ends the listener and the counting. Idempotent. */
  close(): Promise<void>;
}
