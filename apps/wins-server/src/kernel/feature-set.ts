import type { Server, ServiceDefinition } from '@grpc/grpc-js';
import type { LoadedConfig, WinsConfig } from '@wins/config';
import type { Callers } from './rpc/administrators-only.js';
import type { Health } from './rpc/health.js';
import { messageOf } from '@wins/base';
import { problem, warning, type Reported } from './conditions/condition.js';
import { Conditions, type ConditionSource, type Seen } from './conditions/conditions.js';
import { FeatureSwitch } from './feature-switch.js';
import type {
  Feature,
  FeatureOfDaemon,
  FeatureService,
  FeatureStage,
  FeatureView,
  Kernel,
  RunningFeature,
} from './feature.js';

const LOOK_EACH_MS = 5_000;

export class FeatureSet {
  readonly #kernel: Kernel;
  readonly #switches: readonly FeatureSwitch[];
  readonly #services: ReadonlyMap<FeatureSwitch, readonly FeatureService[]>;
  readonly #conditions: Conditions;
  #look = (): void => this.#conditions.update();

  constructor(features: readonly Feature[], kernel: Kernel) {
    this.#kernel = kernel;
    this.#switches = features.map((feature) => new FeatureSwitch(feature, kernel));
    this.#services = new Map(
      this.#switches.map((each) => [each, each.feature.services?.(each, kernel) ?? []]),
    );
    const ofFeatures = this.#switches.map((each): ConditionSource => ({
      name: each.feature.name,
      report: () => [...stateConditions(each), ...ownConditions(each, kernel)],
    }));
    this.#conditions = new Conditions([auditSource(kernel), ...ofFeatures], {
      onChange: (phase, condition) =>
        kernel.events.publish({ type: 'condition', phase, condition }),
    });
  }

  get readAtStart(): readonly (keyof WinsConfig)[] {
    return this.#switches.flatMap(({ feature }) => feature.readAtStart ?? []);
  }

  get healthNames(): readonly string[] {
    return this.#switches.flatMap((each) => this.#servedBy(each));
  }

  list(): readonly FeatureOfDaemon[] {
    return this.#switches.map((each) => ({ feature: each.feature, view: each }));
  }

  /** A feature that is not in the set is off. */
  of<Settings extends object, Running extends RunningFeature<Settings>>(
    feature: Feature<Settings, Running>,
  ): FeatureView<Settings, Running> {
    const found = this.#switches.find((each) => each.feature === (feature as object));
    return found === undefined
      ? new FeatureSwitch(feature, this.#kernel)
      : (found as unknown as FeatureView<Settings, Running>);
  }

  addServices(server: Server, pipe: 'main' | 'admin', callers: Callers): void {
    for (const service of [...this.#services.values()].flat()) {
      if (service.pipe === pipe || service.pipe === 'both')
        server.addService(service.definition, service.implement(callers));
    }
  }

  /** Asks all features for their state. */
  conditions(): readonly Seen[] {
    this.#look();
    return this.#conditions.list();
  }

  /** Reports the health of all services at each change of a feature, and regularly, because some conditions come with time. */
  reportTo(health: Health): Disposable {
    const report = (): void => {
      this.#conditions.update();
      for (const each of this.#switches) {
        const isWell = this.#conditions
          .of(each.feature.name)
          .every(({ level }) => level !== 'problem');
        const names = this.#servedBy(each).map((name) => [name, isWell] as const);
        for (const [name, is] of [...names, ...Object.entries(each.feature.health?.(each) ?? {})])
          health.setWell(name, is);
      }
    };
    for (const each of this.#switches) each.onChange = report;
    // Else a client could see a condition that the health does not have yet.
    this.#look = report;
    report();
    const timer = setInterval(report, LOOK_EACH_MS).unref();
    return {
      [Symbol.dispose]: () => {
        clearInterval(timer);
        this.#look = () => this.#conditions.update();
        for (const each of this.#switches) each.onChange = () => undefined;
      },
    };
  }

  /** @throws any error of a feature in the stage `serves`. */
  async start(stage: FeatureStage): Promise<void> {
    for (const each of this.#of(stage)) {
      const settings = each.feature.settings(this.#kernel.config.inForce());
      if (stage === 'serves') await each.begin(settings);
      else each.apply(settings);
    }
  }

  apply(next: LoadedConfig, stage: FeatureStage): void {
    for (const each of this.#of(stage)) each.apply(each.feature.settings(next));
  }

  /** Never rejects. */
  async closeWorking(): Promise<void> {
    for (const each of this.#of('works').reverse()) await each.close();
  }

  /** Closes the features. Once those with services are closed, calls `answered`, which waits for the answers of pending calls. */
  async closeServing(answered: () => Promise<void>): Promise<void> {
    const serving = this.#of('serves');
    const close = (some: readonly FeatureSwitch[]) => Promise.all(some.map((one) => one.close()));
    await Promise.all([
      close(serving.filter(({ feature }) => feature.services !== undefined)).then(answered),
      close(serving.filter(({ feature }) => feature.services === undefined)),
    ]);
  }

  /** Never rejects. */
  async closeObserving(): Promise<void> {
    await Promise.all(this.#of('observes').map((each) => each.close()));
  }

  /** Names by which clients ask for the health of a feature: its services, and its own name if it has conditions. */
  #servedBy(one: FeatureSwitch): readonly string[] {
    const services = (this.#services.get(one) ?? [])
      .filter(({ pipe, hasHealth = true }) => pipe !== 'admin' && hasHealth)
      .map(({ definition }) => serviceNameOf(definition));
    const { feature } = one;
    return feature.conditions === undefined ? services : [...services, `wins.${feature.name}`];
  }

  #of(stage: FeatureStage): FeatureSwitch[] {
    return this.#switches.filter(({ feature }) => feature.stage === stage);
  }
}

function stateConditions({
  feature: { name, purpose },
  state,
}: FeatureSwitch): readonly Reported[] {
  if (state.kind === 'failed') {
    const found = `cannot ${purpose}: ${state.reason}`;
    return [problem(name, 'featureFailed', found, 'see the log of the daemon; it is tried again')];
  }
  if (state.kind !== 'off' || state.isFault !== true) return [];
  return [problem(name, 'featureOff', `cannot ${purpose}: ${state.reason}`, 'correct the config')];
}

/** An error in the report of one feature must not hide the others. */
function ownConditions(one: FeatureSwitch, kernel: Kernel): readonly Reported[] {
  try {
    return one.feature.conditions?.(one, kernel) ?? [];
  } catch (error) {
    const found = `cannot determine its state: ${messageOf(error)}`;
    return [warning(one.feature.name, 'stateUnknown', found, 'see the log of the daemon')];
  }
}

function auditSource({ audit }: Kernel): ConditionSource {
  const found = 'the audit log cannot be written, so that the daemon refuses what it must record';
  const advice = 'see its log, and whether the disk is full';
  const unavailable = [problem('audit', 'auditUnavailable', found, advice)];
  return { name: 'audit', report: () => (audit.isAvailable ? [] : unavailable) };
}

/** The path of a method looks like `/wins.PlanService/Show`. */
function serviceNameOf(definition: ServiceDefinition): string {
  const [method] = Object.values(definition);
  return method?.path.split('/')[1] ?? '';
}
