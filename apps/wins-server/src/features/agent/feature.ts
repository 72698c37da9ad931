import type { AgentStatus } from '@wins/system-agent';
import { planServiceDefinition } from '@wins/wins-api/contract';
import type { DaemonEvent } from '../../kernel/daemon-events.js';
import { featureMetrics, service, type Feature, type FeatureView } from '../../kernel/feature.js';
import { runs } from '../runs/feature.js';
import {
  actionDecision,
  logAgentEvent,
  PASS_EVENT,
  providerDecision,
  publishAgentEvent,
} from './agent-log.js';
import { agentSettings, type AgentSettings } from './agent-settings.js';
import { counter, gauge, typed, type Metrics } from '../../kernel/metrics.js';
import { agentChecks } from './checks.js';
import { planConditions } from './plan-conditions.js';
import { planFacts } from './plan-facts.js';
import { createPlanService } from './plan-service.js';
import type { RunningAgent } from './running-agent.js';

/** Name of a plan's probe, chosen by the plan's server. */
type ProbeName = string & { readonly [planned]: true };
declare const planned: unique symbol;

const METRICS = {
  wins_plan_applies_total: counter('Ended passes of plans.', { result: ['applied', 'failed'] }),
  wins_plan_last_contact_seconds: gauge(
    'Time since the last answer of the API server, or since the start of the agent if there was none; absent when no server sends plans.',
  ),
  wins_plan_probe_healthy: gauge('1 while a probe of a plan is healthy, else 0.', {
    probe: typed<ProbeName>('probes of plans'),
  }),
};

type AgentView = FeatureView<AgentSettings, RunningAgent>;

export const agent: Feature<AgentSettings, RunningAgent> = {
  ...agentChecks,
  name: 'agent',
  stage: 'works',
  purpose: 'follow the plans of this node',
  settings: ({ config }) => agentSettings(config),
  start: async (settings, kernel, { changed }) => {
    const { logger, audit, events, system, trust } = kernel;
    const { startAgent } = await import('./running-agent.js');
    const following = startAgent({
      settings,
      trust,
      planFiles: system.planFiles,
      commands: kernel.of(runs).require().commands,
      onAction: async (action) => audit.decided(actionDecision(action)),
      onProvider: async (run) => audit.decided(providerDecision(run)),
      onEvent: (event) => {
        logAgentEvent(logger, event);
        publishAgentEvent(events, event);
        if (event.kind === 'probeChanged') {
          const { source, checksum, probe, healthy } = event;
          audit.note('planProbe', { source, checksum, name: probe, healthy });
        }
        if (event.kind === 'stateChanged') changed();
      },
    });
    const { localPlanDirectory, connectionInfoFile } = settings;
    logger.info({ localPlanDirectory, connectionInfoFile }, 'the plans of this node are followed');
    return {
      ...following,
      close: async () => {
        await following.close();
        logger.info('plans are no longer followed');
      },
    };
  },
  whenOff: {
    code: 'agentOff',
    message: (reason) => `the agent is disabled (${reason}): see "systemagent" in the config`,
  },
  services: (view, { audit }) => [
    service(planServiceDefinition, 'both', (callers) =>
      createPlanService({ agent: view, callers, audit }),
    ),
  ],
  conditions: ({ running }) => (running === undefined ? [] : planConditions(running.status())),
  facts: (running, settings) => planFacts(running.status(), settings?.isStrict ?? false),
  health: (view) => ({ 'wins.PlanService.Server': isConnected(view) }),
  metrics: featureMetrics(METRICS, planMetrics),
};

const UNCONNECTED: ReadonlySet<string> = new Set(['starting', 'disconnected', 'unregistered']);

/** Returns undefined while no server is configured. */
function isConnected({ settings, running }: AgentView): boolean | undefined {
  if (settings?.connectionInfoFile === undefined) return undefined;
  const plans = running?.status().plans ?? [];
  return plans.some(({ source, state }) => source === 'remote' && !UNCONNECTED.has(state.kind));
}

function planMetrics(
  metrics: Metrics<typeof METRICS>,
  view: AgentView,
): (event: DaemonEvent) => void {
  const status = (): AgentStatus | undefined => view.running?.status();
  metrics.read('wins_plan_last_contact_seconds', () => {
    const silentMs = status()?.silentMs;
    return silentMs === undefined ? [] : [[{}, silentMs / 1000]];
  });
  metrics.read('wins_plan_probe_healthy', () => {
    // When two plans have a probe of the same name, the unhealthy one is reported.
    const healthy = new Map<ProbeName, boolean>();
    for (const { probes } of status()?.plans ?? [])
      for (const [written, probe] of Object.entries(probes)) {
        const name = written as ProbeName;
        healthy.set(name, probe.healthy && healthy.get(name) !== false);
      }
    return [...healthy].map(([probe, isHealthy]) => [{ probe }, Number(isHealthy)]);
  });
  return (event) => {
    if (event.type === 'kept' && event.event === PASS_EVENT)
      metrics.count('wins_plan_applies_total', {
        result: event.facts['succeeded'] === true ? 'applied' : 'failed',
      });
  };
}
