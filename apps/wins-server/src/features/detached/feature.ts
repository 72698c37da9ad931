import { DetachedRuns, type WantedProgram } from '@wins/process-manager';
import { runsDefinition } from '@wins/wins-api/contract';
import type { ResourceRow } from '../../kernel/admission/resources.js';
import {
  featureMetrics,
  service,
  type Feature,
  type RunningFeature,
} from '../../kernel/feature.js';
import { runs } from '../runs/feature.js';
import { detachedChecks } from './checks.js';
import { endDetachedRuns } from './end-detached-runs.js';
import { detachedConditions } from './detached-conditions.js';
import { keepersOfProgram } from './keepers-of-program.js';
import { wantedPrograms } from './kept-programs.js';
import { DETACHED_METRICS, detachedMetrics, toldBy } from './detached-metrics.js';
import { createRunsService } from './runs-service.js';

const MIB = 1024 * 1024;

export const SPOOLS: ResourceRow = {
  what: 'bytes on the disk for the output of runs that last',
  total: 1024 * MIB,
  reserve: 128 * MIB,
  floor: 64 * MIB,
  atLimit: 'refused',
};

export interface DetachedSettings {
  readonly keep: readonly WantedProgram[];
}

export interface Detached extends RunningFeature<DetachedSettings> {
  readonly runs: DetachedRuns;
}

/** Runs that outlive their client and the daemon. Always on, because runs of an earlier config may still be alive. */
export const detached: Feature<DetachedSettings, Detached> = {
  ...detachedChecks,
  name: 'detached',
  stage: 'serves',
  purpose: 'keep runs that outlive the daemon',
  settings: ({ config }) => ({
    keep: wantedPrograms(config, process.platform === 'win32' ? 'windows' : 'posix'),
  }),
  resources: { spools: SPOOLS },
  start: async ({ keep }, kernel) => {
    const { manager, setDetached, onDecision } = kernel.of(runs).require();
    const detached = new DetachedRuns(manager, {
      stateDirectory: kernel.stateDirectory,
      host: kernel.processHost,
      keepers: keepersOfProgram(kernel),
      sessionStart: kernel.system.sessionStart,
      spools: kernel.resources.of('spools', SPOOLS),
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
      endForShutdown: () => detached.endAll(),
      close: () => detached.close(),
    };
  },
  services: (view, kernel) => [
    service(runsDefinition, 'both', (callers) => {
      const all = () => ({
        manager: kernel.of(runs).require().manager,
        detached: view.require().runs,
      });
      return createRunsService(all, callers, kernel);
    }),
  ],
  conditions: ({ running }) => (running === undefined ? [] : detachedConditions(running.runs)),
  removal: {
    what: 'detached runs',
    remove: ({ configFile, keepsData: keepsOutput }) =>
      endDetachedRuns(configFile, { reason: 'uninstalled', keepsOutput }),
    endOrphans: (configFile) =>
      endDetachedRuns(configFile, { reason: 'unregistered', keepsOutput: true }),
  },
  metrics: featureMetrics(DETACHED_METRICS, (registry, view) =>
    detachedMetrics(registry, () => view.running?.runs.all() ?? []),
  ),
};
