/**
 * The metrics of the daemon: which there are, their numbers, and the listener that Prometheus scrapes.
 *
 * It owns: the table of metrics, the bounds of their labels, the text format, and the limits of the listener. It does not own what is
 * counted: whoever composes it turns events and states into numbers.
 *
 * @example
 * ```ts
 * const metrics = new MetricRegistry();
 * await using listener = await serveMetrics({
 *   listen: '127.0.0.1:9797',
 *   contentType: metrics.contentType,
 *   scrape: () => metrics.text(),
 * });
 * metrics.count('wins_config_reloads_total', { result: 'applied' });
 * ```
 *
 * @module
 */
export { OTHER, type Labels } from './bounded-labels.js';
export { MetricRegistry, type Samples } from './metric-registry.js';
export {
  METRICS,
  mostSeriesOf,
  type LabelValues,
  type MetricDefinition,
  type MetricName,
  type MetricType,
} from './metric-table.js';
export { MetricsError, type MetricsErrorCode } from './metrics-error.js';
export { serveMetrics, type MetricsListener, type ServeMetricsOptions } from './serve-metrics.js';
