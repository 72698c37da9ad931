import { CsiProxyError } from './csi-proxy-error.js';
import { messageOf } from '@wins/base';
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
  readonly #closing = new AbortController();
  readonly #working: Promise<void>;
  #desired: DesiredCsiProxy | undefined;
  #state: CsiProxyState = { kind: 'absent', detail: 'not examined yet' };
  #failures = 0;
  /** Aborts the wait between two passes. */
  #wake = new AbortController();
  #download = new AbortController();
  /** Callers of `apply`: each waits for a pass that starts after its call. */
  #waiting: { resolve: (state: CsiProxyState) => void; reject: (error: Error) => void }[] = [];

  constructor(options: KeeperOptions, desired: DesiredCsiProxy | undefined) {
    const { stateFolder, trust, service } = options;
    const records = recordFile(stateFolder, trust);
    const onState = (state: CsiProxyState): void => this.#become(state);
    const inner = { ...options, service: withReasons(service), onState };
    this.#options = options;
    this.#desired = desired;
    this.#look = nodeLook(inner, records);
    this.#perform = stepWork(inner, records, this.#closing.signal);
    this.#working = this.#run();
  }

  get state(): CsiProxyState {
    return this.#state;
  }

  /** Contains a download address, which may hold a secret. */
  get desired(): DesiredCsiProxy | undefined {
    return this.#desired;
  }

  /** Changes the desired state; undefined removes the csi-proxy that the daemon installed. Aborts a download in progress. */
  want(desired: DesiredCsiProxy | undefined): void {
    if (isDeepStrictEqual(desired, this.#desired)) return;
    this.#desired = desired;
    this.#failures = 0;
    this.#download.abort(new FeatureError('closed', 'the config has changed meanwhile'));
    this.#wake.abort();
  }

  /** Returns the steps that a pass would take now. @throws FeatureError `fileFailed`, `serviceFailed`. */
  async plan(): Promise<readonly Step[]> {
    return planSteps(this.#desired, await this.#look());
  }

  /** Requests a pass without delay, and resolves with its outcome. @throws FeatureError `closed`; the signal's reason. */
  async apply(signal?: AbortSignal): Promise<CsiProxyState> {
    signal?.throwIfAborted();
    if (this.#closing.signal.aborted) throw closed();
    return await new Promise<CsiProxyState>((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      this.#wake.abort();
    });
  }

  /** Leaves the service running. The next `Keeper` completes an unfinished change. Idempotent. */
  async close(): Promise<void> {
    this.#closing.abort(closed());
    await this.#working;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #run(): Promise<void> {
    const { signal: closing } = this.#closing;
    while (!closing.aborted) {
      const waiting = this.#waiting.splice(0);
      this.#wake = new AbortController();
      const waitMs = await this.#pass();
      for (const { resolve, reject } of waiting) {
        if (this.#closing.signal.aborted) reject(closed());
        else resolve(this.#state);
      }
      const woken = AbortSignal.any([closing, this.#wake.signal]);
      await this.#options.clock.wait(waitMs, woken).catch(() => undefined);
    }
    for (const { reject } of this.#waiting.splice(0)) reject(closed());
  }

  /** Returns the delay until the next pass in milliseconds. Never rejects. */
  async #pass(): Promise<number> {
    const desired = this.#desired;
    this.#download = new AbortController();
    try {
      let last: Step | undefined;
      for (let steps = 0; ; steps += 1) {
        this.#closing.signal.throwIfAborted();
        if (this.#desired !== desired) return 0;
        const facts = await this.#look();
        const step = decide(desired, facts);
        if (steps >= MAX_STEPS || isDeepStrictEqual(step, last)) {
          const message = `cannot ${step.action} csi-proxy: the step had no effect (${step.reason})`;
          throw new CsiProxyError('serviceFailed', message);
        }
        last = step;
        if (await this.#perform(step, facts, desired, this.#download.signal)) break;
      }
      this.#failures = 0;
      return LOOK_EVERY_MS;
    } catch (error) {
      if (this.#closing.signal.aborted || this.#desired !== desired) return 0;
      return this.#fail(error);
    }
  }

  #fail(error: unknown): number {
    const code = isFeatureError(error) ? error.code : 'fileFailed';
    this.#failures += 1;
    const waitMs = retryDelayMs(code, this.#failures);
    const retryAt = new Date(this.#options.clock.now().getTime() + waitMs);
    const detail = messageOf(error);
    this.#become({ kind: 'failed', code, detail, failures: this.#failures, retryAt });
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
