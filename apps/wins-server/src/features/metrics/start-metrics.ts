/**
 * The metrics of the daemon: where the parts of their library meet. Loaded when the config turns metrics on.
 */
import { MetricRegistry } from './metric-registry.js';
import { serveMetrics, type MetricsListener } from './serve-metrics.js';
import { keepMetrics } from './daemon-metrics.js';
import type { MetricsSources, RunningMetrics } from './metrics-sources.js';

/** Begins to count; nothing listens yet. */
export function startMetrics(sources: MetricsSources): RunningMetrics {
  const metrics = new MetricRegistry();
  const kept = keepMetrics(metrics, sources);
  let listener: MetricsListener | undefined;
  const scrape = (): Promise<string> => metrics.text();
  const end = async (): Promise<void> => {
    const ending = listener;
    listener = undefined;
    await ending?.close();
  };
  return {
    scrape,
    listen: async (settings) => {
      await end();
      listener = await serveMetrics({
        ...settings,
        contentType: metrics.contentType,
        scrape,
      });
      return listener.address;
    },
    close: async () => {
      kept[Symbol.dispose]();
      await end();
    },
  };
}
