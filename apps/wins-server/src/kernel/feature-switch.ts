import { backoffMs, Reconciler, systemClock, type Clock } from '@wins/time';
import { messageOf } from '@wins/base';
import { isDeepStrictEqual } from 'node:util';
import { FeatureError } from './feature-error.js';
import {
  isOff,
  type Feature,
  type FeatureOff,
  type FeatureState,
  type FeatureView,
  type Kernel,
  type RunningFeature,
} from './feature.js';

const STARTING: FeatureOff = { reason: 'the daemon is starting' };
const STOPPING: FeatureOff = { reason: 'the daemon is stopping' };
const NOTHING: RunningFeature<object> = { close: () => undefined };
const RETRY = { initialMs: 1_000, maxMs: 60_000, jitter: 0 };

/** Turns a feature on and off, one change at a time; the newest settings win. Retries a failure after 1 s, 2 s, … up to a minute. */
export class FeatureSwitch<
  Settings extends object = object,
  Running extends RunningFeature<Settings> = RunningFeature<Settings>,
> implements FeatureView<Settings, Running> {
  readonly feature: Feature<Settings, Running>;
  onChange: () => void = () => undefined;
  readonly #kernel: Kernel;
  readonly #clock: Clock;
  readonly #changes: Reconciler<Settings | FeatureOff>;
  #state: FeatureState = { kind: 'off', ...STARTING };
  #wanted: Settings | FeatureOff = STARTING;
  #running: Running | undefined;
  #isClosed = false;
  #closed: Promise<void> | undefined;

  constructor(feature: Feature<Settings, Running>, kernel: Kernel, clock: Clock = systemClock) {
    this.feature = feature;
    this.#kernel = kernel;
    this.#clock = clock;
    this.#changes = new Reconciler<Settings | FeatureOff>(STARTING, {
      clock,
      pass: async (settings) => {
        await this.#become(this.#isClosed ? STOPPING : settings);
        this.onChange();
      },
      onFailure: (err, failures) => this.#fail(err, failures),
    });
  }

  get state(): FeatureState {
    return this.#state;
  }

  get settings(): Settings | undefined {
    return isOff(this.#wanted) ? undefined : this.#wanted;
  }

  get running(): Running | undefined {
    return this.#running;
  }

  get reason(): string {
    return 'reason' in this.#state ? this.#state.reason : `it is ${this.#state.kind}`;
  }

  require(): Running {
    if (this.#running !== undefined) return this.#running;
    const { name, whenOff } = this.feature;
    const code = whenOff?.code ?? 'shuttingDown';
    const message = whenOff?.message(this.reason) ?? `cannot use ${name}: ${this.reason}`;
    throw new FeatureError(code, message);
  }

  /** Requests these settings, unless they are wanted already or the switch is closed. */
  apply(wanted: Settings | FeatureOff): void {
    if (this.#isClosed || isDeepStrictEqual(wanted, this.#wanted)) return;
    this.#wanted = wanted;
    this.#changes.want(wanted);
  }

  /** @throws Any error of the start. Does not retry. */
  async begin(wanted: Settings | FeatureOff): Promise<void> {
    this.#wanted = wanted;
    await this.#become(wanted);
    this.onChange();
  }

  /** Turns the feature off for good, and waits for at most `closeWithinMs`. Idempotent; never rejects. */
  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  async #close(): Promise<void> {
    this.#isClosed = true;
    this.#wanted = STOPPING;
    const { closeWithinMs } = this.feature;
    const late = new AbortController();
    const waits = [this.#changes.reconcile().then(() => this.#changes.close())];
    if (closeWithinMs !== undefined)
      waits.push(this.#clock.wait(closeWithinMs, { signal: late.signal }).catch(() => undefined));
    await Promise.race(waits);
    late.abort();
  }

  async #become(wanted: Settings | FeatureOff): Promise<void> {
    this.#state = isOff(wanted) ? { kind: 'off', ...wanted } : { kind: 'starting' };
    if (this.#running !== undefined && (isOff(wanted) || this.#running.configure === undefined))
      await this.#end();
    if (isOff(wanted)) return;
    if (this.#running === undefined) {
      const report = {
        changed: () => this.onChange(),
        finished: (settings: Settings, off: FeatureOff) => this.#finish(settings, off),
      };
      const begun =
        (await this.feature.start?.(wanted, this.#kernel, report)) ?? (NOTHING as Running);
      if (isOff(begun)) {
        this.#state = { kind: 'off', ...begun };
        return;
      }
      this.#running = begun;
    }
    await this.#running.configure?.(wanted);
    this.#state = { kind: 'on' };
  }

  async #end(): Promise<void> {
    const ending = this.#running;
    // While the daemon stops, a feature of the stage `serves` stays available, because the feature still answers pending calls.
    if (!this.#isClosed || this.feature.stage !== 'serves') this.#running = undefined;
    await ending?.close();
  }

  #finish(settings: Settings, off: FeatureOff): void {
    // Newer settings were requested meanwhile.
    if (settings === this.#wanted) this.#changes.want(off);
  }

  #fail(err: unknown, failures: number): number {
    this.#state = { kind: 'failed', reason: `it cannot start: ${messageOf(err)}` };
    const retryMs = backoffMs(RETRY, failures);
    this.#kernel.logger.error({ err, retryMs }, `cannot ${this.feature.purpose}`);
    this.onChange();
    return retryMs;
  }
}
