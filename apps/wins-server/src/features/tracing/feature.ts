import type { TracingSettings } from '@wins/config';
import type { Feature } from '../../kernel/feature.js';

// Loads at once, because the first call may come before an `import` ends.
// oxlint-disable-next-line typescript/no-require-imports
const load = () => require('./start-tracing.js') as typeof import('./start-tracing.js');

/** Sends a span for each call whose client records a trace. No call waits for the collector. */
export const tracing: Feature<TracingSettings> = {
  name: 'tracing',
  stage: 'observes',
  purpose: 'send spans',
  settings: ({ config }) => config.tracing ?? { reason: 'the config has no section tracing' },
  start: (settings, kernel) => load().startTracing(settings, kernel),
};
