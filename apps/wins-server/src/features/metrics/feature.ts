import type { MetricsSettings } from '@wins/config';
import { metricsServiceDefinition, type MetricsServiceServer } from '@wins/wins-api/contract';
import { service, type Feature } from '../../kernel/feature.js';
import { administratorsOnly } from '../../kernel/rpc/administrators-only.js';
import type { RunningMetrics } from './start-metrics.js';

export function metricsFeature(
  load: () => Pick<typeof import('./start-metrics.js'), 'startMetrics'>,
): Feature<MetricsSettings, RunningMetrics> {
  return {
    name: 'metrics',
    stage: 'observes',
    purpose: 'serve metrics',
    settings: ({ config }) => config.metrics ?? { reason: 'the config has no section metrics' },
    start: (_settings, kernel) => load().startMetrics(kernel),
    whenOff: {
      code: 'metricsOff',
      message: (reason) =>
        `metrics are disabled (${reason}): set metrics.listen in the config to turn them on`,
    },
    services: (view) => [
      service(metricsServiceDefinition, 'both', (callers) => {
        const answer = administratorsOnly(callers, 'show the metrics');
        return {
          scrape: (call, respond) =>
            answer(call, respond, async () => ({ text: await view.require().scrape() })),
        } satisfies MetricsServiceServer;
      }),
    ],
  };
}

export const metrics = metricsFeature(
  // Loads at once, because events are counted from the start on.
  // oxlint-disable-next-line typescript/no-require-imports
  () => require('./start-metrics.js') as typeof import('./start-metrics.js'),
);
