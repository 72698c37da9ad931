// Beside this file once everything is bundled; an import would make it part of this one, and each daemon would hold it.
/* eslint-disable @typescript-eslint/no-require-imports */

/** Loads what sends spans, which most daemons never need. */
export function loadTracing() {
  return require('./wins-tracing.cjs') as typeof import('./start-tracing.js');
}
