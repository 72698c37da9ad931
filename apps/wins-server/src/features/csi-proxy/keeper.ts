import { CsiProxyError } from './csi-proxy-error.js';
import { messageOf } from '@wins/base';
import { Reconciler } from '@wins/time';
import { isDeepStrictEqual } from 'node:util';
import { FeatureError, isFeatureError } from '../../kernel/feature-error.js';
import { decide, MAX_STEPS, planSteps, type Step } from './decide/decide.js';
import { nextState, retryDelayMs, type CsiProxyState } from './decide/component-state.js';
import { withReasons } from './install/failures.js';
import { nodeLook } from './install/look-at-node.js';
import { recordFile } from './install/record-file.js';
import { stepWork } from './install/step-work.js';
import type { KeeperOptions } from './csi-proxy-port.js';
import type { DesiredCsiProxy } from './settings/judge-settings.js';

const LOOK_EVERY_MS = 60_000;

/** Keeps csi-proxy in the desired state. Each pass starts from the actual state of the node. A failed pass is retried. */
export class Keeper implements AsyncDisposable {
  readonly #options: KeeperOptions;
  readonly #look: ReturnType<typeof nodeLook>;
  readonly #perform: ReturnType<typeof stepWork>;
  readonly #passes: Reconciler<DesiredCsiProxy | undefined>;
  #state: CsiProxyState = { kind: 'absent', detail: 'not examined yet' };

  constructor(options: KeeperOptions, desired: DesiredCsiProxy | undefined) {
    const { stateFolder, trust, service } = options;
    const records = recordFile(stateFolder, trust);
    const onState = (state: CsiProxyState): void => this.#become(state);
    const inner = { ...options, service: withReasons(service), onState };
    this.#options = options;
    this.#passes = new Reconciler(desired, {
      clock: options.clock,
      pass: (wanted, signal) => this.#pass(wanted, signal),
      onFailure: (error, failures) => this.#fail(error, failures),
    });
    this.#look = nodeLook(inner, records);
    this.#perform = stepWork(inner, records, this.#passes.closing);
    this.#passes.wake();
  }

  get state(): CsiProxyState {
    return this.#state;
  }

  /** Contains a download address, which may hold a secret. */
  get desired(): DesiredCsiProxy | undefined {
    return this.#passes.desired;
  }

  /** Changes the desired state; undefined removes the csi-proxy that the daemon installed. Aborts a download in progress. */
  want(desired: DesiredCsiProxy | undefined): void {
    this.#passes.want(desired);
  }

  /** Returns the steps that a pass would take now. @throws FeatureError `fileFailed`, `serviceFailed`. */
  async plan(): Promise<readonly Step[]> {
    return planSteps(this.desired, await this.#look());
  }

  /** Requests a pass without delay, and resolves with its outcome. @throws FeatureError `closed`; the signal's reason. */
  async apply(signal?: AbortSignal): Promise<CsiProxyState> {
    await this.#passes.reconcile(signal);
    this.#passes.closing.throwIfAborted();
    return this.#state;
  }

  /** Leaves the service running. The next `Keeper` completes an unfinished change. Idempotent. */
  close(): Promise<void> {
    return this.#passes.close(closed());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Returns the delay until the next pass in milliseconds. */
  async #pass(desired: DesiredCsiProxy | undefined, signal: AbortSignal): Promise<number> {
    try {
      let last: Step | undefined;
      for (let steps = 0; ; steps += 1) {
        signal.throwIfAborted();
        const facts = await this.#look();
        const step = decide(desired, facts);
        if (steps >= MAX_STEPS || isDeepStrictEqual(step, last)) {
          const message = `cannot ${step.action} csi-proxy: the step had no effect (${step.reason})`;
          throw new CsiProxyError('serviceFailed', message);
        }
        last = step;
        if (await this.#perform(step, facts, desired, signal)) return LOOK_EVERY_MS;
      }
    } catch (error) {
      if (!signal.aborted) throw error;
      return 0;
    }
  }

  #fail(error: unknown, failures: number): number {
    const code = isFeatureError(error) ? error.code : 'fileFailed';
    const waitMs = retryDelayMs(code, failures);
    const retryAt = new Date(this.#options.clock.now().getTime() + waitMs);
    this.#become({ kind: 'failed', code, detail: messageOf(error), failures, retryAt });
    return waitMs;
  }

  #become(state: CsiProxyState): void {
    const next = nextState(this.#state, state);
    const isNew = !isDeepStrictEqual(next, this.#state);
    this.#state = next;
    if (isNew) this.#options.onState(next);
  }
}

function closed(): FeatureError {
  return new FeatureError('closed', 'csi-proxy is no longer managed');
}
