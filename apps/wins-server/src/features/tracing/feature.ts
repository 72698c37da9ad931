import type { TracingSettings } from '@wins/config';
import type { Feature } from '../../kernel/feature.js';
import { heavyParts } from '../../load-heavy-parts.js';

/** Sends a span for each call whose client records a trace. No call waits for the collector. */
export const tracing: Feature<TracingSettings> = {
  name: 'tracing',
  stage: 'observes',
  purpose: 'send spans',
  settings: ({ config }) => config.tracing ?? { reason: 'the config has no section tracing' },
  start: (settings, kernel) => heavyParts().tracing().startTracing(settings, kernel),
};
