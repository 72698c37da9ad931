import type { HostNetworkStatus, PlannedStep } from '@wins/host-network';
import { existsSync } from 'node:fs';
import { featureMetrics, type Feature, type RunningFeature } from '../../kernel/feature.js';
import { APPLY, CHANGE, REMOVE } from '../host-network/change-action.js';
import { ports } from '../ports/feature.js';
import { counter, gauge } from '../../kernel/metrics.js';
import { networkChecks } from './checks.js';
import { firstOf } from '../host-network/source-conditions.js';
import { networkConditions } from './network-conditions.js';
import { networkFacts, type NetworkSteps } from './network-facts.js';
import {
  networkSettings,
  recordFileIn,
  wantsNothing,
  type NetworkSettings,
} from './network-settings.js';
import { removeNetwork } from './remove-network.js';
import type { StartedNetwork } from './start-network.js';

const CHANGE_EVENT = 'hostNetworkChanged';
const STATES = [
  'applied',
  'foreign',
  'planned',
  'waiting',
  'conflict',
  'rejected',
  'failed',
] as const;
const METRICS = {
  wins_host_routes: gauge(
    'Wanted routes, and parts of the network of containers, such as its bridge, by state.',
    {
      state: STATES,
    },
  ),
  wins_host_source_age_seconds: gauge(
    'Time since a source that lists other hosts or containers last answered, or since it started.',
    { source: ['metadata', 'nodes', 'containers'] },
  ),
  wins_host_route_changes_total: counter(
    'Changes of routes and parts of the network of containers, tried or done.',
    { op: ['add', 'remove'] },
  ),
};
/** Maximum number of destinations in an audit record, which is one line. */
const TOLD_DESTINATIONS = 8;
const SOURCE_TEXT = 'a source of other hosts';
const NO_SECTION = { reason: 'hostNetwork in the config asks for no route' };

/** Other features do not wait for this one. Its routes and its container network stay when the daemon ends. */
export const network: Feature<
  NetworkSettings,
  RunningFeature<NetworkSettings> & Pick<StartedNetwork, 'kept' | 'sources'>
> = {
  ...networkChecks,
  name: 'network',
  stage: 'works',
  purpose: 'keep the network of the host',
  settings: ({ config }) => networkSettings(config),
  start: async (settings, kernel, { changed, finished }) => {
    const { logger, audit, events, trust, stateDirectory } = kernel;
    const recordFile = recordFileIn(stateDirectory);
    // Without a record there is nothing to remove, so the network code is not loaded.
    if (wantsNothing(settings) && !existsSync(recordFile)) return NO_SECTION;
    const { startNetwork } = await import('./start-network.js');
    let current = settings;
    const started: StartedNetwork = await startNetwork(
      {
        recordFile,
        trust,
        beforeSteps: async (steps) => {
          const name = changesText(steps);
          await audit.decided({
            ...CHANGE,
            verdict: 'allowed',
            requester: 'config',
            name,
          });
          logger.info({ changes: name }, 'routes of the host are changed');
          const added = steps.filter(({ op }) => op === 'add').length;
          const facts = { added, removed: steps.length - added };
          events.publish({ type: 'kept', event: CHANGE_EVENT, facts });
        },
        onStatus: (status) => {
          const { kind: state, problems } = status;
          const facts = { state, ...countsOf(status), problems: problems.slice(0, 3).join('; ') };
          logger[isWell(status) ? 'info' : 'warn'](facts, 'the network of the host');
          events.publish({ type: 'kept', event: 'hostNetwork', facts });
          changed();
          if (wantsNothing(current) && started.kept.isBare) finished(current, NO_SECTION);
        },
        onSource: ({ source, state, items, skippedCount: skipped, problem }) => {
          const facts = { source, state, peers: items.length, skipped, problem };
          logger[problem === '' ? 'info' : 'warn'](facts, SOURCE_TEXT);
          events.publish({ type: 'kept', event: 'hostNetworkSource', facts });
          changed();
        },
        onWarning: (problem) => logger.warn({ problem }, 'the network of the host'),
      },
      settings,
    );
    return {
      kept: started.kept,
      sources: started.sources,
      configure: (next) => {
        current = next;
        started.configure(next);
      },
      close: () => started[Symbol.asyncDispose](),
    };
  },
  // The next daemon detects a change that this one did not finish in time.
  closeWithinMs: 5_000,
  whenOff: {
    code: 'networkOff',
    message: (reason) =>
      `the network of the host is not managed (${reason}): see "hostNetwork" in the config`,
  },
  conditions: ({ running }) =>
    running === undefined ? [] : networkConditions(running.kept.status, running.sources.statuses),
  facts: ({ kept, sources }) => networkFacts(kept.status, sources.statuses),
  changes: {
    actions: { apply: APPLY, remove: REMOVE },
    plan: async ({ kept }, change): Promise<NetworkSteps> => {
      const { steps, isLimited } = await kept.plan(change === 'remove' ? { isDown: true } : {});
      return { steps, isLimited };
    },
    make: ({ kept }, change, signal) =>
      change === 'remove' ? kept.teardown({ signal }) : kept.apply({ signal }),
  },
  removal: {
    what: 'network of the host',
    remove: ({ configFile }) => removeNetwork(configFile),
  },
  metrics: featureMetrics(METRICS, (metrics, view, kernel) => {
    metrics.read('wins_host_routes', () => {
      const standings = view.running?.kept.status.standings ?? [];
      return STATES.map((state) => [
        { state },
        standings.filter((standing) => standing.state === state).length,
      ]);
    });
    metrics.read('wins_host_source_age_seconds', () =>
      [...(view.running?.sources.statuses ?? []), ...(kernel.of(ports).running?.sources ?? [])].map(
        ({ source, ageMs, sinceMs }) => [{ source }, (ageMs ?? sinceMs) / 1000],
      ),
    );
    return (event) => {
      if (event.type !== 'kept' || event.event !== CHANGE_EVENT) return;
      const { added, removed } = event.facts;
      for (let left = Number(added); left > 0; left -= 1)
        metrics.count('wins_host_route_changes_total', { op: 'add' });
      for (let left = Number(removed); left > 0; left -= 1)
        metrics.count('wins_host_route_changes_total', { op: 'remove' });
    };
  }),
};

/** Pending items count as healthy. */
function isWell({ kind, standings }: HostNetworkStatus): boolean {
  return (
    (kind === 'starting' || kind === 'settled') &&
    standings.every(({ state }) => state !== 'conflict' && state !== 'rejected')
  );
}

function countsOf({ standings }: HostNetworkStatus): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { state } of standings) counts[state] = (counts[state] ?? 0) + 1;
  return counts;
}

function changesText(steps: readonly PlannedStep[]): string {
  const texts = steps.map((step) =>
    'route' in step
      ? `${step.op} ${step.route.destination}`
      : `${step.op} ${step.item.kind} ${step.item.key}`,
  );
  return firstOf(texts, TOLD_DESTINATIONS, ', ');
}
