import { DetachedRuns, type WantedProgram } from '@wins/process-manager';
import type { Feature, RunningFeature } from '../../kernel/feature.js';
import type { Callers } from '../../kernel/rpc/administrators-only.js';
import { runs } from '../runs/feature.js';
import { checkDetachedRuns } from './check-detached-runs.js';
import { keepersOfProgram } from './keepers-of-program.js';
import { wantedPrograms } from './kept-programs.js';
import { lastingMetrics, toldBy } from './lasting-metrics.js';
import { createLastingService, servedLastingDefinition } from './lasting-service.js';

/** All methods but `start`, which the administrators' pipe does not have. */
const { start: _, ...administeredDefinition } = servedLastingDefinition;

export interface LastingSettings {
  readonly keep: readonly WantedProgram[];
}

export interface Lasting extends RunningFeature<LastingSettings> {
  readonly runs: DetachedRuns;
}

/** Runs that outlive their client and the daemon. Always on, because runs of an earlier config may still be alive. */
export const lasting: Feature<LastingSettings, Lasting> = {
  name: 'lasting',
  stage: 'serves',
  purpose: 'keep runs that outlive the daemon',
  settings: ({ config }) => ({
    keep: wantedPrograms(config, process.platform === 'win32' ? 'windows' : 'posix'),
  }),
  start: async ({ keep }, kernel) => {
    const { manager, setDetached, onDecision } = kernel.of(runs).require();
    const detached = new DetachedRuns(manager, {
      stateDirectory: kernel.stateDirectory,
      host: kernel.processHost,
      keepers: keepersOfProgram(kernel),
      sessionStart: kernel.system.sessionStart,
      spools: kernel.resources.spools,
      onDecision,
      onEvent: toldBy(kernel),
    });
    detached.keep(keep);
    await detached.adopt();
    setDetached(detached);
    return {
      runs: detached,
      configure: (settings) => {
        if (settings.keep !== keep) detached.keep(settings.keep);
      },
      close: () => detached.close(),
    };
  },
  services: (view, kernel) => {
    const implement = (callers: Callers) =>
      createLastingService(() => view.require().runs, callers, kernel);
    return [
      { definition: servedLastingDefinition, pipe: 'main', implement },
      { definition: administeredDefinition, pipe: 'admin', implement },
    ];
  },
  doctor: [checkDetachedRuns],
  metrics: (registry, view) => lastingMetrics(registry, () => view.running?.runs.all() ?? []),
};
