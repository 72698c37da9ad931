import type { Feature, RunningFeature } from '../../kernel/feature.js';
import { runs } from '../runs/feature.js';
import { LastingRuns } from './lasting-runs.js';
import { lastingMetrics, toldBy } from './lasting-metrics.js';
import { createLastingService, servedLastingDefinition } from './lasting-service.js';

export interface Lasting extends RunningFeature<object> {
  readonly runs: LastingRuns;
}

/** Runs that outlive their client and the daemon. It is on whatever the config says: runs of an earlier config are kept. */
export const lasting: Feature<object, Lasting> = {
  name: 'lasting',
  stage: 'serves',
  purpose: 'keep runs that outlive the daemon',
  settings: () => ({}),
  start: async (_settings, kernel) => {
    const { manager, startHeldBy } = kernel.of(runs).require();
    const lastingRuns = new LastingRuns(kernel, manager, { onEvent: toldBy(kernel) });
    await lastingRuns.adopt();
    startHeldBy((...start) => lastingRuns.startHeld(...start));
    return {
      runs: lastingRuns,
      configure: () => undefined,
      close: () => lastingRuns.close(),
    };
  },
  services: (view, { audit }) => [
    {
      definition: servedLastingDefinition,
      pipe: 'main',
      implement: (callers) => createLastingService(() => view.require().runs, callers, audit),
    },
  ],
  metrics: (registry, view) => lastingMetrics(registry, () => view.running?.runs.all() ?? []),
};
