import type { AgentEvent, SourceState } from '../agent-event.js';
import type { Applier } from '../apply/pass.js';
import { decidePass, hasFailed, type AgentMemory } from '../decide/decide-pass.js';
import { announcement, secretChanges } from '../decide/secret-changes.js';
import { KEY, type SecretData } from '../decide/secret-keys.js';
import { savedOutputs, savedPeriodic, secretState } from '../decide/secret-state.js';
import { quoteText } from '@wins/wins-program';

import { AgentError } from '../agent-error.js';
import { Warnings } from '../apply/warnings.js';
import { parsePlan, type ParsedPlan } from '../plan/parse-plan.js';
import type { Clock, PlanFiles, Secret, SecretStore, WatchState } from '../ports.js';
import type { PlanStatus } from '../system-agent.js';
import { BackOff } from './back-off.js';
import { KeptChanges } from './kept-changes.js';
import { sameState, stateBetweenPasses } from './remote-state.js';
import { SecretWriter } from './secret-writer.js';
import { WakeUp } from './wake-up.js';

const SOURCE = 'remote';
/** For what cannot be used: the plan, a file of it, a key. The original's limiter. */
const INVALID_RETRY_MS = [60_000, 120_000, 240_000, 300_000];
const ANNOUNCE_RETRY = { firstMs: 1000, maxMs: 60_000 };

export interface RemotePlanOptions {
  readonly secrets: SecretStore;
  readonly applier: Applier;
  readonly clock: Clock;
  readonly files: PlanFiles;
  readonly stateDirectory: string;
  readonly onEvent: (event: AgentEvent) => void;
}

/**
 * Follows the plan of the Secret: one loop, woken by the Secret and by time, does one pass after the other and has the Secret say what
 * came of it. Only this loop changes the state; the watch leaves notes for it.
 */
export class RemotePlan {
  readonly #options: RemotePlanOptions;
  readonly #clock: Clock;
  readonly #wakeUp: WakeUp;
  readonly #writer: SecretWriter;
  readonly #announceBackOff = new BackOff(ANNOUNCE_RETRY);
  readonly #warnings: Warnings;
  /** Undefined until the watch has told; null when there is none. */
  #secret: Secret | null | undefined;
  /** Told, but older than what is known: the API server is asked which one it is. */
  #doubted = false;
  #uid: string | undefined;
  #memory: AgentMemory = { firstPass: true };
  #parsed: { readonly text: Buffer; readonly plan: ParsedPlan } | undefined;
  #invalid: { readonly failures: number; readonly secret: Secret } | undefined;
  #nextPassAt: Date | undefined;
  /** The version of the Secret that the last pass was about. */
  #passed: Secret | undefined;
  #state: SourceState = { kind: 'starting' };
  #disconnected: SourceState | undefined;
  #lastContactAt: Date | undefined;

  constructor(options: RemotePlanOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#wakeUp = new WakeUp(options.clock);
    this.#warnings = new Warnings(options.onEvent);
    this.#writer = new SecretWriter({
      secrets: options.secrets,
      clock: options.clock,
      kept: new KeptChanges(options.files, options.stateDirectory),
      onWarning: (message, error) => this.#warnings.tell(SOURCE, 'result', message, error),
    });
  }

  get lastContactAt(): Date | undefined {
    return this.#lastContactAt;
  }

  status(): PlanStatus {
    const data = this.#data();
    const state = secretState(data);
    const lastApplyTime = data[KEY.lastApplyTime]?.toString();
    return {
      source: SOURCE,
      state: this.#told(),
      ...(this.#parsed && { plan: this.#parsed.plan.plan, checksum: this.#parsed.plan.checksum }),
      ...(state.appliedChecksum && { appliedChecksum: state.appliedChecksum }),
      ...(state.failedChecksum && { failedChecksum: state.failedChecksum }),
      failures: state.failureCount,
      ...(lastApplyTime && { lastApplyTime }),
      periodic: orNone(() => savedPeriodic(data)),
      probes: state.probes,
    };
  }

  /** Resolves when the signal aborts and nothing of it runs any more. Rejects for what it did not expect; it may then run again. */
  async run(signal: AbortSignal): Promise<void> {
    const ended = new AbortController();
    const running = AbortSignal.any([signal, ended.signal]);
    await this.#writer.load();
    let broken: { readonly error: unknown } | undefined;
    const watching = this.#options.secrets
      .watch(
        (secret) => this.#onSecret(secret),
        (state) => this.#onWatchState(state),
        running,
      )
      .catch((error: unknown) => {
        broken = { error };
        this.#wakeUp.ring();
      });
    try {
      while (!signal.aborted && !broken) {
        await this.#step(running);
        if (!broken) await this.#wakeUp.sleep(this.#nextAt(), running);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      ended.abort();
      await watching;
    }
    if (broken && !signal.aborted) throw broken.error;
  }

  #onSecret(secret: Secret | undefined): void {
    this.#lastContactAt = this.#clock.now();
    const known = this.#secret;
    if (secret && known && isSame(secret, known)) return;
    this.#doubted = Boolean(secret && known?.uid === secret.uid && isOlder(secret, known));
    if (!this.#doubted) this.#secret = secret ?? null;
    this.#writer.hurry();
    this.#wakeUp.ring();
  }

  #onWatchState(state: WatchState): void {
    if (state.kind === 'connected') {
      this.#lastContactAt = this.#clock.now();
      if (this.#disconnected) this.#writer.hurry();
      this.#disconnected = undefined;
      if (this.#writer.failure) this.#wakeUp.ring();
    } else {
      this.#disconnected = { ...state, kind: 'disconnected' };
    }
    this.#tell();
  }

  /** Does what is due now. */
  async #step(signal: AbortSignal): Promise<void> {
    if (this.#doubted) await this.#settleDoubt(signal);
    const secret = this.#secret;
    if (secret === undefined) return;
    if (this.#nextPassAt && this.#nextPassAt <= this.#clock.now()) this.#nextPassAt = undefined;
    await this.#writer.rebase(secret ?? undefined);
    if (secret === null) return this.#rest({ kind: 'noPlan' });
    if (secret.uid !== this.#uid) {
      this.#uid = secret.uid;
      this.#memory = { firstPass: true };
    }
    if (await this.#write(secret, signal)) return;
    if (this.#passed === secret && this.#nextPassAt) return;
    this.#passed = secret;
    await this.#pass(secret, signal);
  }

  async #settleDoubt(signal: AbortSignal): Promise<void> {
    try {
      const read = await this.#options.secrets.read(signal);
      this.#doubted = false;
      if (!read || !this.#secret || !isSame(read, this.#secret)) this.#secret = read ?? null;
    } catch (error) {
      signal.throwIfAborted();
      // The plan that is known goes on; the next pass asks again.
      this.#warnings.tell(
        SOURCE,
        'doubt',
        'cannot tell which of two versions of the Secret is the newer one',
        error as Error,
      );
    }
  }

  /** Writes what waits. True: the Secret is another one now, and a pass follows at once. */
  async #write(secret: Secret, signal: AbortSignal): Promise<boolean> {
    const failed = this.#writer.failure;
    const written = await this.#writer.flush(secret, signal);
    if (written.secret !== secret) this.#adopt(written.secret);
    if (written.wrote) this.#lastContactAt = this.#clock.now();
    if (failed || this.#writer.failure) this.#tell();
    if (written.secret === secret) return false;
    this.#wakeUp.ring();
    return true;
  }

  async #pass(secret: Secret, signal: AbortSignal): Promise<void> {
    const data = this.#data();
    const text = data[KEY.plan];
    if (!text) return this.#rest({ kind: 'noPlan' });
    try {
      const parsed = this.#parse(text);
      const state = secretState(data);
      this.#warnOfKeys(parsed, state.unreadable);
      const decision = decidePass(state, parsed.checksum, this.#memory, this.#clock.now());
      if (decision.kind === 'announce')
        return await this.#announce(secret, announcement(state), signal);
      const startedAt = this.#clock.now();
      const applies = decision.kind === 'apply';
      const pass = {
        source: SOURCE,
        plan: parsed.plan,
        checksum: parsed.checksum,
        outputs: applies ? savedOutputs(data, hasFailed(state, parsed.checksum)) : {},
        periodic: savedPeriodic(data),
        probes: state.probes,
        startedAt,
        ...(applies && { oneTime: { attempt: decision.attempt } }),
      };
      if (applies)
        this.#enter({ kind: 'applying', checksum: parsed.checksum, attempt: decision.attempt });
      const result = await this.#options.applier.apply(pass, signal);
      signal.throwIfAborted();
      const values = secretChanges(
        {
          state,
          checksum: parsed.checksum,
          decision,
          firstPass: this.#memory.firstPass,
          startedAt,
          result,
        },
        data,
      );
      this.#memory = { firstPass: false };
      this.#invalid = undefined;
      this.#passAgainIn(state.probePeriodMs);
      if (Object.keys(values).length > 0) {
        const base = { uid: secret.uid, checksum: parsed.checksum, values };
        const { planState } = state;
        await this.#writer.add(
          secret,
          { ...base, ...(planState !== undefined && { planState }) },
          applies,
        );
        // The watch may have told another Secret during the pass.
        if (this.#secret !== secret) return this.#wakeUp.ring();
        if (await this.#write(secret, signal)) return this.#rested(parsed.checksum);
      }
      this.#rested(parsed.checksum);
    } catch (error) {
      signal.throwIfAborted();
      this.#refuse(secret, error as Error);
    }
  }

  /** A plan that is pending is marked before anything of it runs; the next step then applies it. */
  async #announce(secret: Secret, values: SecretData, signal: AbortSignal): Promise<void> {
    try {
      const written = await this.#options.secrets.write(secret, values, signal);
      this.#memory = { ...this.#memory, announced: 1 };
      this.#announceBackOff.reset();
      this.#adopt(written);
      this.#wakeUp.ring();
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof AgentError && (error.code === 'conflict' || error.code === 'notFound')) {
        this.#doubted = true;
      }
      const retryAt = new Date(this.#clock.now().getTime() + this.#announceBackOff.nextMs());
      this.#nextPassAt = retryAt;
      this.#enter({ kind: 'disconnected', error: error as Error, retryAt });
    }
  }

  #parse(text: Buffer): ParsedPlan {
    if (!this.#parsed?.text.equals(text)) {
      this.#parsed = undefined;
      this.#parsed = { text, plan: parsePlan(text) };
    }
    return this.#parsed.plan;
  }

  #refuse(secret: Secret, error: Error): void {
    const failures = this.#invalid?.secret === secret ? this.#invalid.failures + 1 : 1;
    this.#invalid = { failures, secret };
    const waitMs = INVALID_RETRY_MS[Math.min(failures, INVALID_RETRY_MS.length) - 1] ?? 0;
    const retryAt = new Date(this.#clock.now().getTime() + waitMs);
    this.#nextPassAt = retryAt;
    this.#enter({ kind: 'invalid', error, retryAt });
  }

  /** The Secret as the API server gave it to us, unless the watch has told a newer one by now. */
  #adopt(secret: Secret | undefined): void {
    const known = this.#secret;
    if (secret && known && known.uid === secret.uid && isOlder(secret, known)) return;
    this.#secret = secret ?? null;
  }

  /** What the Secret says once all is written. */
  #data(): SecretData {
    return { ...this.#secret?.data, ...this.#writer.values };
  }

  /** The earlier of two times counts: a pass between two of them does not move the next. */
  #passAgainIn(periodMs: number): void {
    const at = new Date(this.#clock.now().getTime() + periodMs);
    if (!this.#nextPassAt || at < this.#nextPassAt) this.#nextPassAt = at;
  }

  #nextAt(): Date | undefined {
    const retryAt = this.#writer.failure?.retryAt;
    const times = [this.#nextPassAt, retryAt].filter((time) => time !== undefined);
    return times.sort((a, b) => a.getTime() - b.getTime())[0];
  }

  #rest(state: SourceState): void {
    this.#nextPassAt = undefined;
    this.#parsed = undefined;
    this.#enter(state);
  }

  #rested(checksum: string): void {
    const now = this.#clock.now();
    const state = secretState(this.#data());
    this.#enter(stateBetweenPasses(state, checksum, this.#memory, now, this.#nextPassAt ?? now));
  }

  #enter(state: SourceState): void {
    this.#state = state;
    this.#tell();
  }

  /** What keeps a result from the server is more than what keeps the server from us; both are more than how the plan does. */
  #told(): SourceState {
    const { failure } = this.#writer;
    const checksum = this.#parsed?.plan.checksum ?? '';
    if (failure && this.#state.kind !== 'applying')
      return { kind: 'unwritten', checksum, ...failure };
    if (this.#disconnected && this.#state.kind !== 'applying') return this.#disconnected;
    return this.#state;
  }

  #lastTold: SourceState | undefined;

  #tell(): void {
    const state = this.#told();
    if (this.#lastTold && sameState(this.#lastTold, state)) return;
    this.#lastTold = state;
    this.#options.onEvent({ kind: 'stateChanged', source: SOURCE, state });
  }

  #warnOfKeys(plan: ParsedPlan, unreadable: readonly string[]): void {
    const { checksum, unknownKeys } = plan;
    const [first] = unknownKeys;
    if (first !== undefined) {
      this.#warnings.tell(
        SOURCE,
        'unknown',
        `plan ${checksum} has ${unknownKeys.length} keys that mean nothing here, such as ${quoteText(first)}`,
      );
    }
    if (unreadable.length > 0) {
      this.#warnings.tell(
        SOURCE,
        'unreadable',
        `cannot read ${unreadable.join(', ')} of the Secret; defaults stand for them`,
      );
    }
  }
}

function isSame(a: Secret, b: Secret): boolean {
  return a.uid === b.uid && a.resourceVersion === b.resourceVersion;
}

/** Versions are opaque, but those that are numbers are counted up. */
function isOlder(secret: Secret, known: Secret): boolean {
  const [a, b] = [secret.resourceVersion, known.resourceVersion];
  return /^\d{1,20}$/.test(a) && /^\d{1,20}$/.test(b) && BigInt(a) < BigInt(b);
}

function orNone<T>(read: () => Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  try {
    return read();
  } catch {
    return {};
  }
}
