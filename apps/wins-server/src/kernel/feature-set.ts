import type { Server, ServiceDefinition } from '@grpc/grpc-js';
import type { LoadedConfig, WinsConfig } from '@wins/config';
import type { Callers } from './rpc/administrators-only.js';
import type { Health } from './rpc/health.js';
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

export class FeatureSet {
  readonly #kernel: Kernel;
  readonly #switches: readonly FeatureSwitch[];
  readonly #services: readonly FeatureService[];

  constructor(features: readonly Feature[], kernel: Kernel) {
    this.#kernel = kernel;
    this.#switches = features.map((feature) => new FeatureSwitch(feature, kernel));
    this.#services = this.#switches.flatMap(
      (each) => each.feature.services?.(each, this.#kernel) ?? [],
    );
  }

  get readAtStart(): readonly (keyof WinsConfig)[] {
    return this.#switches.flatMap(({ feature }) => feature.readAtStart ?? []);
  }

  get healthNames(): readonly string[] {
    return this.#services
      .filter(({ pipe, hasHealth = true }) => pipe !== 'admin' && hasHealth)
      .map(({ definition }) => serviceNameOf(definition));
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
    for (const service of this.#services) {
      if (service.pipe === pipe || service.pipe === 'both')
        server.addService(service.definition, service.implement(callers));
    }
  }

  reportTo(health: Health): void {
    for (const each of this.#switches) {
      const { feature } = each;
      const report = (): void => {
        for (const [name, isWell] of Object.entries(feature.health?.(each) ?? {}))
          health.setWell(name, isWell);
      };
      each.onChange = report;
      report();
    }
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

  #of(stage: FeatureStage): FeatureSwitch[] {
    return this.#switches.filter(({ feature }) => feature.stage === stage);
  }
}

/** The path of a method looks like `/wins.PlanService/Status`. */
function serviceNameOf(definition: ServiceDefinition): string {
  const [method] = Object.values(definition);
  return method?.path.split('/')[1] ?? '';
}
