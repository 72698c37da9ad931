import {
  featureServiceDefinition,
  type FeatureFacts,
  type FeatureServiceServer,
} from '@wins/wins-api/contract';
import { messageOf, quoteText } from '@wins/base';
import type { ActionOfFeature } from '../../kernel/audit/decision.js';
import { FeatureError } from '../../kernel/feature-error.js';
import {
  service,
  type Feature,
  type FeatureChanges,
  type FeatureOfDaemon,
  type HostChange,
  type Kernel,
  type RunningFeature,
} from '../../kernel/feature.js';
import {
  administratorsOnly,
  goneSignal,
  recordAction,
  type Callers,
} from '../../kernel/rpc/administrators-only.js';

/** Only for administrators, because the state names runs and hosts of all clients. */
export const status: Feature = {
  name: 'status',
  stage: 'serves',
  purpose: 'tell its state',
  settings: () => ({}),
  services: (_view, kernel) => [
    service(featureServiceDefinition, 'both', (callers) => createFeatureService(kernel, callers)),
  ],
};

export function createFeatureService(
  kernel: Kernel,
  callers: Pick<Callers, 'clientOf' | 'administered'>,
): FeatureServiceServer {
  const answer = administratorsOnly(callers, 'show or change the state of the daemon');
  return {
    read: (call, respond) =>
      answer(call, respond, () => ({
        configFile: kernel.config.inForce().path,
        pid: process.pid,
        startedAt: new Date(Date.now() - process.uptime() * 1000).toISOString(),
        conditions: conditionsOf(kernel),
        features: [...new Set(call.request.facts)].flatMap((name) =>
          name === '*' ? allFacts(kernel) : [factsOf(featureNamed(kernel, name), kernel)],
        ),
        programFingerprint: kernel.programFingerprint,
      })),
    plan: (call, respond) =>
      answer(call, respond, async () => {
        const { names, remove } = call.request;
        const features: FeatureFacts[] = [];
        for (const { name, running, changes } of changeable(kernel, names, changeOf(remove))) {
          const steps = await changes.plan?.(running, changeOf(remove));
          features.push({ name, on: true, reason: '', facts: JSON.stringify(steps ?? {}) });
        }
        return { features };
      }),
    change: (call, respond) =>
      answer(call, respond, async () => {
        const { names, remove } = call.request;
        const change = changeOf(remove);
        const wanted = changeable(kernel, names, change);
        const gone = goneSignal(call);
        for (const { name, running, action, changes } of wanted) {
          await recordAction(call, { callers, audit: kernel.audit }, { ...action, name });
          await changes.make(running, change, gone);
        }
        return { features: names.map((name) => factsOf(featureNamed(kernel, name), kernel)) };
      }),
  };
}

function conditionsOf(kernel: Pick<Kernel, 'conditions'>) {
  return kernel.conditions().map((condition) => ({ causes: [], isSummary: false, ...condition }));
}

function changeOf(isRemoval: boolean): HostChange {
  return isRemoval ? 'remove' : 'apply';
}

function withFacts(kernel: Pick<Kernel, 'features'>): readonly FeatureOfDaemon[] {
  return kernel.features().filter(({ feature }) => feature.facts !== undefined);
}

/** A feature that cannot tell its facts must not hide the others. */
function allFacts(kernel: Kernel): readonly FeatureFacts[] {
  return withFacts(kernel).map((one) => {
    try {
      return factsOf(one, kernel);
    } catch (error) {
      const reason = `cannot tell its state: ${messageOf(error)}`;
      return { name: one.feature.name, on: false, reason, facts: '' };
    }
  });
}

/** @throws FeatureError `invalidArgument` */
function featureNamed(kernel: Pick<Kernel, 'features'>, name: string): FeatureOfDaemon {
  const found = kernel.features().find(({ feature }) => feature.name === name);
  if (found !== undefined) return found;
  const names = withFacts(kernel).map(({ feature }) => feature.name);
  const message = `cannot find the feature ${quoteText(name)}; wanted one of ${names.join(', ')}`;
  throw new FeatureError('invalidArgument', message);
}

function factsOf({ feature, view }: FeatureOfDaemon, kernel: Kernel): FeatureFacts {
  const { name } = feature;
  const { running, settings, reason } = view;
  if (running === undefined) return { name, on: false, reason, facts: '' };
  const facts = JSON.stringify(feature.facts?.(running, settings, kernel) ?? {});
  return { name, on: true, reason: '', facts };
}

interface Changeable {
  readonly name: string;
  readonly running: RunningFeature<object>;
  readonly action: ActionOfFeature;
  readonly changes: FeatureChanges<RunningFeature<object>>;
}

/** Returns those features that are on. @throws FeatureError `invalidArgument`, or, if none is on, the error of the first. */
function changeable(
  kernel: Pick<Kernel, 'features'>,
  names: readonly string[],
  change: HostChange,
): readonly Changeable[] {
  const wanted = names.map((name) => featureNamed(kernel, name));
  const found = wanted.flatMap(({ feature: { name, changes }, view: { running } }) => {
    const action = changes?.actions[change];
    if (changes === undefined || action === undefined)
      throw new FeatureError(
        'invalidArgument',
        `cannot ${change} ${name}: it makes no such change`,
      );
    return running === undefined ? [] : [{ name, running, action, changes }];
  });
  if (found.length === 0) wanted[0]?.view.require();
  return found;
}
