import { Backoff } from '@wins/time';
import { AgentError } from '../agent-error.js';
import type { Applier, Pass } from '../apply/pass.js';
import { Warnings, warnOfKeys } from '../apply/warnings.js';
import {
  type AgentMemory,
  decidePass,
  hasFailed,
  stateBetweenPasses,
} from '../decide/decide-pass.js';
import { announcement, type EndedPass, secretChanges } from '../decide/secret-changes.js';
import {
  KEY,
  type SecretData,
  savedOutputs,
  savedPeriodic,
  secretState,
} from '../decide/secret-state.js';
import { parsePlan, type ParsedPlan } from '../plan/parse-plan.js';
import type { Clock, Secret, SecretStore, WatchState } from '../ports.js';
import type { AgentOptions, PlanStatus } from '../system-agent.js';
import { SOURCE_BACKOFF } from '../kubernetes/connections.js';
import { KeptChanges } from './kept-changes.js';
import { KnownSecret } from './known-secret.js';
import { remoteStatus, failureState, ToldState } from './told-state.js';
import { SecretWriter } from './secret-writer.js';
import { WakeUp } from './wake-up.js';

const SOURCE = 'remote';
/** Delays after an unusable plan, file or key, as in the Go agent. */
const INVALID_RETRY_MS = [60_000, 120_000, 240_000, 300_000];

/** Limits consecutive passes that the agent's own writes cause. Otherwise an unstable probe could keep the node busy. */
const MAX_BURST = 10;

export type RemotePlanOptions = Pick<
  AgentOptions,
  'clock' | 'files' | 'stateDirectory' | 'onEvent'
> & { readonly secrets: SecretStore; readonly applier: Applier };

/**
 * One loop, woken by the watch and by timers, performs passes and writes their results.
 */
export class RemotePlan {
  readonly #options: RemotePlanOptions;
  readonly #clock: Clock;
  readonly #wakeUp: WakeUp;
  readonly #warnings: Warnings;
  readonly #known: KnownSecret;
  readonly #writer: SecretWriter;
  readonly #state: ToldState;
  readonly #announceBackOff = new Backoff(SOURCE_BACKOFF);
  #uid: string | undefined;
  #memory: AgentMemory = { firstPass: true };
  #parsed: { readonly text: Buffer; readonly plan: ParsedPlan } | undefined;
  /** Version of the Secret in the last pass. */
  #passed: Secret | undefined;
  /** Version that the agent wrote last. `#burst` counts consecutive passes that were caused by the agent's own writes. */
  #own: Secret | undefined;
  #burst = 0;
  /** Number of consecutive errors that prevented a pass with the Secret version in `#passed`. */
  #refusals = 0;
  /** Time of the monotonic clock, because a clock that is set back must not postpone a pass. */
  #nextPassAtMs: number | undefined;
  #looping: Promise<void> | undefined;

  constructor(options: RemotePlanOptions) {
    const { secrets, clock, files, stateDirectory, onEvent } = options;
    this.#options = options;
    this.#clock = clock;
    this.#wakeUp = new WakeUp(clock);
    this.#warnings = new Warnings(onEvent);
    this.#known = new KnownSecret(secrets, clock);
    this.#state = new ToldState(SOURCE, onEvent);
    this.#writer = new SecretWriter({
      secrets: this.#known,
      clock,
      kept: new KeptChanges(files, stateDirectory),
      onWarning: (message, error) => this.#warnings.tell(SOURCE, 'result', message, error),
    });
  }

  status(): PlanStatus {
    return remoteStatus(SOURCE, this.#state.current, this.#data(), this.#parsed?.plan);
  }

  /** Resolves after the signal aborted. May be called again after an unexpected failure. */
  async run(signal: AbortSignal): Promise<void> {
    const ended = new AbortController();
    const running = AbortSignal.any([signal, ended.signal]);
    await this.#writer.load();
    const watching = this.#options.secrets.watch(
      (secret) => {
        if (this.#known.tell(secret)) this.#hurry();
      },
      (state) => this.#onWatchState(state),
      { signal: running },
    );
    try {
      await Promise.race([this.#loop(running), watching]);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      ended.abort(new AgentError('closed', 'the source ends'));
      await Promise.allSettled([watching, this.#looping]);
    }
  }

  #loop(signal: AbortSignal): Promise<void> {
    const loop = async (): Promise<void> => {
      while (!signal.aborted) {
        await this.#step(signal);
        await this.#wakeUp.sleep(this.#nextAtMs(), signal);
      }
    };
    this.#looping = loop();
    return this.#looping;
  }

  #onWatchState(state: WatchState): void {
    this.#state.watched(state);
    if (state.kind === 'connected' && this.#writer.failure) this.#hurry();
  }

  #hurry(): void {
    this.#writer.hurry();
    this.#wakeUp.ring();
  }

  async #step(signal: AbortSignal): Promise<void> {
    if (this.#known.isDoubted) await this.#settleDoubt(signal);
    const secret = this.#known.current;
    if (secret === undefined) return;
    if ((this.#nextPassAtMs ?? Infinity) <= this.#clock.monotonicMs())
      this.#nextPassAtMs = undefined;
    await this.#writer.rebase(secret ?? undefined);
    const text = secret?.data[KEY.plan];
    if (!secret || !text) {
      this.#nextPassAtMs = undefined;
      this.#parsed = undefined;
      // Without its plan, no result is left to write.
      this.#state.written('', undefined);
      this.#state.enter({ kind: secret === null ? 'noSecret' : 'noPlan' });
      return;
    }
    if (secret.uid !== this.#uid) {
      this.#uid = secret.uid;
      this.#memory = { firstPass: true };
    }
    if (await this.#write(secret, signal)) return;
    const isScheduled = this.#nextPassAtMs !== undefined;
    const isBurst = secret === this.#own && isScheduled;
    if (isScheduled && (this.#passed === secret || (isBurst && this.#burst >= MAX_BURST))) return;
    this.#burst = isBurst ? this.#burst + 1 : 0;
    if (this.#passed !== secret) this.#refusals = 0;
    this.#passed = secret;
    try {
      await this.#pass(secret, text, signal);
    } catch (error) {
      signal.throwIfAborted();
      this.#refuse(error as Error);
    }
  }

  async #settleDoubt(signal: AbortSignal): Promise<void> {
    try {
      await this.#known.read({ signal });
      this.#warnings.tell(SOURCE, 'doubt', undefined);
    } catch (error) {
      signal.throwIfAborted();
      // Continue with the known version. The next pass asks the server again.
      const message = 'cannot determine which of two versions of the Secret is newer';
      this.#warnings.tell(SOURCE, 'doubt', message, error);
    }
  }

  /** Returns true if it changed the Secret. In that case it has also requested another step, which starts at once. */
  async #write(secret: Secret, signal: AbortSignal): Promise<boolean> {
    const written = await this.#writer.flush(secret, signal);
    const { checksum, failure } = this.#writer;
    const told = failure && { error: failure.error, retryAt: this.#dateOf(failure.retryAtMs) };
    this.#state.written(checksum, told);
    if (written === secret) return false;
    this.#own = written;
    this.#wakeUp.ring();
    return true;
  }

  /** @throws an error that prevented the pass. It does not count as a failure of the plan. */
  async #pass(secret: Secret, text: Buffer, signal: AbortSignal): Promise<void> {
    const data = this.#data();
    const parsed = this.#parse(text);
    const { plan, checksum } = parsed;
    const state = secretState(data);
    warnOfKeys(this.#warnings, SOURCE, parsed, state.unreadable);
    const startedAt = this.#clock.now();
    const decision = decidePass(state, checksum, this.#memory, startedAt);
    if (decision.kind === 'announce') {
      const { revision } = decision;
      // Remember the announcement before writing it, because the answer may be lost.
      this.#memory = { ...this.#memory, announced: { checksum, revision } };
      await this.#announce(secret, announcement(revision), signal);
      return;
    }
    const applies = decision.kind === 'apply';
    const tried = state.failureCount > 0 ? state.failedChecksum : state.appliedChecksum;
    const isRepeated = tried === checksum;
    const pass: Pass = {
      source: SOURCE,
      plan,
      checksum,
      outputs: applies ? savedOutputs(data, hasFailed(state, checksum)) : {},
      periodic: savedPeriodic(data),
      probes: state.probes,
      startedAt,
      ...(applies && { oneTime: { attempt: decision.attempt, isRepeated } }),
    };
    if (applies) this.#state.enter({ kind: 'applying', checksum, attempt: decision.attempt });
    const result = await this.#options.applier.apply(pass, { signal });
    // The result of an aborted pass says nothing about the plan.
    signal.throwIfAborted();
    const { firstPass } = this.#memory;
    await this.#finish(secret, data, { state, checksum, decision, firstPass, startedAt, result });
    // The watch may have reported a new version during the pass.
    if (this.#known.current === secret) await this.#write(secret, signal);
    else this.#wakeUp.ring();
    const rest = secretState(this.#data());
    const now = this.#clock.now();
    const nextPassAt = this.#nextPassAtMs === undefined ? now : this.#dateOf(this.#nextPassAtMs);
    this.#state.enter(stateBetweenPasses(rest, checksum, this.#memory, now, nextPassAt));
  }

  async #finish(secret: Secret, data: SecretData, ended: EndedPass): Promise<void> {
    const { state, checksum, decision } = ended;
    this.#memory = { firstPass: false };
    this.#announceBackOff.reset();
    this.#refusals = 0;
    this.#passAgainIn(state.probePeriodMs);
    const values = secretChanges(ended, data);
    if (Object.keys(values).length === 0) return;
    const base = { checksum, planState: state.planState, values };
    await this.#writer.add(secret, base, decision.kind === 'apply');
  }

  /** Marks a plan as in progress. The next pass applies it. */
  async #announce(secret: Secret, values: SecretData, signal: AbortSignal): Promise<void> {
    try {
      this.#own = await this.#known.write(secret, values, { signal });
      this.#wakeUp.ring();
    } catch (error) {
      signal.throwIfAborted();
      const retryAt = this.#retryIn(this.#announceBackOff.nextMs());
      const code = error instanceof AgentError ? error.code : 'refused';
      if (code === 'conflict' || code === 'notFound') this.#known.isDoubted = true;
      else this.#state.enter(failureState({ error: error as Error, retryAt }));
    }
  }

  #parse(text: Buffer): ParsedPlan {
    if (!this.#parsed?.text.equals(text)) {
      this.#parsed = undefined;
      this.#parsed = { text, plan: parsePlan(text) };
    }
    return this.#parsed.plan;
  }

  #refuse(error: Error): void {
    const waitMs = INVALID_RETRY_MS[Math.min(this.#refusals, INVALID_RETRY_MS.length - 1)] ?? 0;
    this.#refusals += 1;
    this.#state.enter({ kind: 'invalid', error, retryAt: this.#retryIn(waitMs) });
  }

  #data(): SecretData {
    return { ...this.#known.current?.data, ...this.#writer.values };
  }

  /** Never postpones a scheduled pass. */
  #passAgainIn(periodMs: number): void {
    const atMs = this.#clock.monotonicMs() + periodMs;
    this.#nextPassAtMs = Math.min(this.#nextPassAtMs ?? Infinity, atMs);
  }

  #retryIn(waitMs: number): Date {
    this.#nextPassAtMs = this.#clock.monotonicMs() + waitMs;
    return this.#dateOf(this.#nextPassAtMs);
  }

  #dateOf(atMs: number): Date {
    return new Date(this.#clock.now().getTime() + atMs - this.#clock.monotonicMs());
  }

  #nextAtMs(): number | undefined {
    const times = [this.#nextPassAtMs, this.#writer.failure?.retryAtMs];
    const known = times.filter((atMs) => atMs !== undefined);
    return known.length === 0 ? undefined : Math.min(...known);
  }
}
