import type { MetricsServiceServer } from '@wins/wins-api/contract';
import { administratorsOnly, type Callers } from '../../kernel/rpc/administrators-only.js';

/** Metrics that are kept. */
export interface Scrape {
  /** All of them in the text format of Prometheus. */
  scrape(): Promise<string>;
}

/** What the service asks. */
export interface MetricsServiceParts {
  /** @throws FeatureError */
  readonly metrics: Scrape;
  readonly callers: Pick<Callers, 'clientOf' | 'administered'>;
}

/** Serves wins.MetricsService, for administrators of the host alone. */
export function createMetricsService({
  metrics,
  callers,
}: MetricsServiceParts): MetricsServiceServer {
  const answer = administratorsOnly(callers, 'tell the metrics');
  return {
    scrape: (call, respond) =>
      answer(call, respond, async () => ({ Text: await metrics.scrape() })),
  };
}
