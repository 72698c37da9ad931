import {
  createProcessManager,
  type AllowedExecutable,
  CommandRunner,
  type DecisionRecord,
  type DetachedRuns,
  type EntryName,
  type ProcessManager,
  type ProcessManagerOptions,
} from '@wins/process-manager';
import { allowedBy, howToAllow } from '../../configuration/allowed-executables.js';
import { counted, summary } from '../../kernel/conditions/condition.js';
import {
  featureMetrics,
  service,
  type Feature,
  type Kernel,
  type RunningFeature,
} from '../../kernel/feature.js';
import { EVERYBODY } from '@wins/base';
import { logProcessEvent } from '../../kernel/log/process-events.js';
import { loadUpgrader } from '../upgrade/upgrader.js';
import { runChecks } from './checks.js';
import { createProcessService, servedProcessDefinition } from './process-service.js';
import { RUN_METRICS, runMetrics } from './run-metrics.js';

const SHOWN_RUNS = 5;

export interface RunsSettings {
  readonly allowed: readonly AllowedExecutable[];
  readonly processEnvironment: Readonly<Record<string, string>>;
}

export interface Runs extends RunningFeature<RunsSettings> {
  readonly manager: ProcessManager;
  /** @throws Error before `setDetached`. */
  readonly detached: DetachedRuns;
  /** Called once, by the feature that starts after this one. */
  readonly setDetached: (runs: DetachedRuns) => void;
  /** Records decisions about runs. */
  readonly onDecision: NonNullable<ProcessManagerOptions['onDecision']>;
  /** Runs commands of the node's administrator, such as instructions of plans. */
  readonly commands: CommandRunner;
}

export const runs: Feature<RunsSettings, Runs> = {
  ...runChecks,
  name: 'runs',
  stage: 'serves',
  purpose: 'run programs',
  settings: ({ config }) => ({
    allowed: allowedBy(config),
    processEnvironment: config.processEnvironment,
  }),
  start: async (settings, kernel) => {
    const { logger, processHost: host, stateDirectory } = kernel;
    const onDecision = recordDecisions(kernel);
    const manager = createManager(settings, kernel, onDecision);
    const recovered = await manager.recover();
    logger.debug({ ended: recovered.length }, 'checked for processes of earlier daemons');
    // Not awaited, because a hanging firewall must not delay the daemon.
    void sweepPorts(kernel);
    const commands = new CommandRunner({ host, stateDirectory });
    let detached: DetachedRuns | undefined;
    return {
      manager,
      commands,
      onDecision,
      get detached() {
        if (detached === undefined) throw new Error('the feature of detached runs is not started');
        return detached;
      },
      setDetached: (all) => {
        detached = all;
      },
      configure: ({ allowed, processEnvironment }) => {
        manager.setAllowed(allowed);
        manager.setProcessEnvironment(processEnvironment);
      },
      close: async () => {
        await Promise.all([commands.close(), manager.close()]);
      },
    };
  },
  services: (view) => [
    service(servedProcessDefinition, 'main', (callers) =>
      createProcessService(() => view.require(), callers),
    ),
  ],
  conditions: ({ running }) => {
    const all = running?.manager.list() ?? [];
    const names = all.flatMap(({ state, owner, name }) =>
      state.kind === 'ended' ? [] : [owner.runName ?? name],
    );
    const shown = names.slice(0, SHOWN_RUNS).join(', ');
    const more = names.length > SHOWN_RUNS ? ', …' : '';
    const which = names.length === 0 ? '' : ` (${shown}${more})`;
    return [summary('runs', `${counted(names.length, 'run')}${which}`)];
  },
  metrics: featureMetrics(RUN_METRICS, (registry, view) => {
    // The names come from the config, never from a client.
    const entries = () =>
      (view.settings?.allowed ?? []).map(({ path }) => path.split(/[\\/]/).at(-1) as EntryName);
    return runMetrics(registry, () => view.require().manager, entries);
  }),
};

function createManager(
  { allowed, processEnvironment }: RunsSettings,
  { audit, config, events, logger, resources, ...kernel }: Kernel,
  onDecision: Runs['onDecision'],
): ProcessManager {
  const { portOpener } = kernel.system;
  return createProcessManager({
    allowed,
    processEnvironment,
    howToAllow: howToAllow(config.start.loaded.path),
    host: kernel.processHost,
    stateDirectory: kernel.stateDirectory,
    ...(portOpener && { portOpener }),
    readSignature: () => loadUpgrader().readSignature(),
    slots: {
      take: (owner, end) => {
        const client = owner.absentClient ?? kernel.clientNamed(owner.id) ?? EVERYBODY;
        const claim = resources.runs.take(client, { end });
        return claim && (() => claim.release());
      },
      takeFileBytes: (owner, amount) => {
        const client = kernel.clientNamed(owner.id) ?? EVERYBODY;
        const claim = resources.fileBytes.take(client, { amount });
        return claim && (() => claim.release());
      },
    },
    onDecision,
    onEvent: (event) => {
      logProcessEvent(logger, event);
      if (event.type === 'ended' && event.exit.reason === 'outOfMemory') {
        const { mark, name, path, exit } = event;
        audit.note('outOfMemory', { mark, name, path, code: exit.code });
      }
      events.publish({ type: 'run', event });
    },
  });
}

function recordDecisions({ audit, clientNamed }: Pick<Kernel, 'audit' | 'clientNamed'>) {
  return (record: DecisionRecord): void | Promise<void> => {
    const client = clientNamed(record.requester);
    return audit.decided({ ...record, client: record.client ?? client?.description }, client?.key);
  };
}

/** Never rejects, because a firewall failure must not stop the daemon. */
async function sweepPorts({ system, logger }: Kernel): Promise<void> {
  try {
    const marks = (await system.portOpener?.sweep([])) ?? [];
    if (marks.length > 0)
      logger.warn({ marks }, 'closed the firewall ports of runs that have ended');
  } catch (err) {
    logger.error({ err }, 'cannot close the firewall ports of runs that have ended');
  }
}
