import type { Feature, RunningFeature } from '../../kernel/feature.js';
import { runs } from '../runs/feature.js';
import { LastingRuns } from './lasting-runs.js';
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
    const lastingRuns = new LastingRuns(kernel, kernel.of(runs).require().manager);
    await lastingRuns.adopt();
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
};
