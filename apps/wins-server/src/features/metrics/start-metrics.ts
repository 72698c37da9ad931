/** Composition root of the metrics. A separate bundle, loaded when the config turns metrics on. */
import type { MetricsSettings } from '@wins/config';
import type { Kernel, RunningFeature } from '../../kernel/feature.js';
import { keepMetrics } from './daemon-metrics.js';
import { MetricRegistry } from './metric-registry.js';
import { allMetrics } from './metric-table.js';
import { serveMetrics, type MetricsListener } from './serve-metrics.js';

export interface RunningMetrics extends RunningFeature<MetricsSettings> {
  scrape(): Promise<string>;
}

/** Starts to count; nothing listens yet. */
export function startMetrics(kernel: Kernel): RunningMetrics {
  const { logger } = kernel;
  const features = kernel.features().map(({ feature }) => feature);
  const metrics = new MetricRegistry(allMetrics(features));
  const kept = keepMetrics(metrics, kernel);
  let listener: MetricsListener | undefined;
  const scrape = (): Promise<string> => metrics.text();
  const end = () => listener?.[Symbol.asyncDispose]();
  return {
    scrape,
    // Counters survive a change of the listen address. If the new address is in use, clients can still read metrics through the pipe.
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
