/**
 * The metrics of the daemon: where the parts of their library meet. A bundle of its own, loaded
 * when the config turns metrics on.
 */
import type { MetricsSettings } from '@wins/config';
import type { Kernel, RunningFeature } from '../../kernel/feature.js';
import { keepMetrics } from './daemon-metrics.js';
import { MetricRegistry } from './metric-registry.js';
import { serveMetrics, type MetricsListener } from './serve-metrics.js';

/** Metrics that are kept until they are closed. */
export interface RunningMetrics extends RunningFeature<MetricsSettings> {
  /** All of them in the text format of Prometheus. */
  scrape(): Promise<string>;
}

/** Begins to count; nothing listens yet. */
export function startMetrics(kernel: Kernel): RunningMetrics {
  const { logger } = kernel;
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
    // What was counted stays when the listener moves, and the pipe answers when its address is
    // taken.
    configure: async (settings) => {
      await end();
      listener = await serveMetrics({ ...settings, contentType: metrics.contentType, scrape });
      logger.info({ address: listener.address }, 'metrics are served');
    },
    close: async () => {
      kept[Symbol.dispose]();
      await end();
      logger.info('metrics are off');
    },
  };
}
