import { reporter } from '@wins/base';
import { AgentError } from './agent-error.js';
import { AppliedPlans } from './apply/applied-plans.js';
import { createApplier } from './apply/create-applier.js';
import { followLocalPlans } from './sources/local-plans.js';
import { RemotePlan } from './sources/remote-plan.js';
import { supervise } from './sources/supervise.js';
import type { AgentOptions, PlanStatus, SystemAgent } from './system-agent.js';

const ONCE = 'once';

/** Starts an agent and returns at once. Reports a failing source by an event, and restarts the source with back-off. */
export function createSystemAgent(given: AgentOptions): SystemAgent {
  const options = { ...given, onEvent: reporter(given.onEvent) };
  const { clock, files, onEvent, localPlanDirectory } = options;
  const startedMs = clock.monotonicMs();
  const ended = new AbortController();
  const applier = createApplier(options);
  const passes = new Set<Promise<unknown>>();
  const sources: Promise<void>[] = [];
  let local: readonly PlanStatus[] = [];
  let remote: RemotePlan | undefined;

  const follow = (source: string, run: (signal: AbortSignal) => Promise<void>): void => {
    sources.push(supervise({ source, clock, onEvent }, run, ended.signal));
  };
  if (localPlanDirectory) {
    const onStatus = (plans: readonly PlanStatus[]): void => {
      local = plans;
    };
    const { trust } = options;
    const steps = { directory: localPlanDirectory, applier, clock, files, onStatus, onEvent };
    follow(localPlanDirectory, (signal) =>
      followLocalPlans({ ...steps, ...(trust && { trust }) }, signal),
    );
  }
  if (options.secrets) {
    const plan = new RemotePlan({ ...options, secrets: options.secrets, applier });
    remote = plan;
    follow('remote', (signal) => plan.run(signal));
  }

  const close = async (): Promise<void> => {
    ended.abort(new AgentError('closed', 'the agent is closed'));
    await Promise.allSettled([...sources, ...passes]);
  };
  return {
    status: () => {
      const contactMs = options.secrets?.lastContactMs;
      const silentMs = clock.monotonicMs() - (contactMs ?? startedMs);
      const lastContactAt = new Date(clock.now().getTime() - silentMs);
      return {
        plans: [...(remote ? [remote.status()] : []), ...local],
        ...(contactMs !== undefined && { lastContactAt }),
        ...(remote && { silentMs }),
      };
    },
    history: () => new AppliedPlans(options.appliedPlanDirectory, files).list(),
    applyOnce: async ({ plan, checksum }, { signal }) => {
      if (ended.signal.aborted) throw new AgentError('closed', 'the agent is closed');
      const applying = applier.apply(
        {
          source: ONCE,
          plan,
          checksum,
          oneTime: { attempt: 0 },
          outputs: {},
          periodic: {},
          probes: {},
          startedAt: clock.now(),
        },
        { signal: AbortSignal.any([signal, ended.signal]) },
      );
      passes.add(applying);
      try {
        return await applying;
      } finally {
        passes.delete(applying);
      }
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
