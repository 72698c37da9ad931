// Beside this file once everything is bundled; an import would make it part of this one, and each daemon would hold it.
/* eslint-disable @typescript-eslint/no-require-imports */

/** Loads the metrics, which most daemons never need. */
export function loadMetrics() {
  return require('./wins-metrics.cjs') as typeof import('./start-metrics.js');
}
