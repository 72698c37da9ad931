// Loaded when it is called; an import would make each daemon hold what it is made of.
/* eslint-disable @typescript-eslint/no-require-imports */

/** Loads the metrics, which most daemons never need. */
export function loadMetrics() {
  return require('./start-metrics.js') as typeof import('./start-metrics.js');
}
