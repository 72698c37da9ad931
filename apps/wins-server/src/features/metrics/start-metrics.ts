/**
 * The metrics of the daemon: where the parts of their library meet. A bundle of its own, loaded
 * when the config turns metrics on.
 */
import type { MetricsSettings } from '@wins/config';
import { MetricRegistry } from './metric-registry.js';
import { serveMetrics, type MetricsListener } from './serve-metrics.js';
import type { Kernel } from '../../kernel/feature.js';
import { keepMetrics } from './daemon-metrics.js';

/** Metrics that are kept until they are closed. */
export interface RunningMetrics {
  /** All of them in the text format of Prometheus. */
  scrape(): Promise<string>;
  /** Ends the listener that there is, and begins another. @throws FeatureError */
  listen(settings: MetricsSettings): Promise<string>;
  /** Ends the listener and the counting. Idempotent. */
  close(): Promise<void>;
}

/** Begins to count; nothing listens yet. */
export function startMetrics(kernel: Kernel): RunningMetrics {
  const metrics = new MetricRegistry();
  const kept = keepMetrics(metrics, kernel);
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
