import { fileFingerprint, type FileFingerprint } from '@wins/trusted-files';
import { backoffMs, systemClock, type Clock } from '@wins/time';
import { messageOf, type CanonicalPath } from '@wins/base';
import type { Upgrader } from '../run/offer-upgrade.js';
import { examineProgram, type FileGuard } from './examine-program.js';

const LOOK_EVERY_MS = 1000;
/** Delay before an unfit file is checked again: its permissions can change while its content stays the same. */
const JUDGE_AGAIN_MS = 10_000;
const BACKOFF = { initialMs: 2_000, maxMs: 600_000, jitter: 0 };
/** Ample, because a helper waits at most a minute at each of three points. */
const LONGEST_UPGRADE_MS = 600_000;

/** Logger of {@link ProgramWatch}: each method takes fields and a message. */
export type WatchLog = Readonly<
  Record<'debug' | 'info' | 'warn' | 'error', (facts: object, message: string) => void>
>;

/** The watched file, and the service that is upgraded when the file changes. */
export interface WatchOptions {
  readonly file: CanonicalPath;
  readonly service: string;
  readonly runningFile: string;
  /** Digest of the program that this daemon runs, in hexadecimal digits. */
  readonly runningSha1: Promise<string>;
  readonly guard: FileGuard;
  /** An upgrade starts only after it is recorded. */
  readonly audit: {
    decided(
      decision: { readonly action: 'upgrade'; readonly verdict: 'allowed' } & Readonly<
        Record<'requester' | 'file' | 'sha256' | 'service' | 'runningFile', string>
      >,
    ): Promise<void> | undefined;
  };
  readonly upgrader: () => Upgrader;
  readonly logger: WatchLog;
  /** Default: the system clock. */
  readonly clock?: Pick<Clock, 'wait'> | undefined;
}

/**
 * `changing`: the last check found a new or changed file. `offered`: a helper upgrades to a copy of the file.
 * `deferred`: cannot be used now. `settled`: nothing to do until the file changes.
 */
type WatchState = 'absent' | 'changing' | 'examining' | 'offered' | 'deferred' | 'settled';

type Outcome = 'moved' | 'done' | 'unfit' | 'failed';

const AFTER: Readonly<Record<Outcome, WatchState>> = {
  moved: 'absent',
  done: 'settled',
  unfit: 'deferred',
  failed: 'deferred',
};

/**
 * Checks a file once a second. Starts an upgrade when the file is not the running program and two checks found it
 * unchanged. Pauses the checks while the program is examined, and while a helper upgrades the daemon to that program.
 */
export class ProgramWatch implements AsyncDisposable {
  #lastWarning: string | undefined;
  readonly #closing = new AbortController();
  readonly #options: WatchOptions;
  readonly #clock: Pick<Clock, 'wait'>;
  readonly #ended: Promise<void>;

  constructor({ clock = systemClock, ...options }: WatchOptions) {
    this.#options = options;
    this.#clock = clock;
    this.#ended = this.#follow().catch((error: unknown) => {
      if (!this.#closing.signal.aborted) throw error;
    });
  }

  /** No upgrade starts afterwards. Idempotent. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#ended;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #follow(): Promise<never> {
    let file: FileFingerprint | undefined;
    let failures = 0;
    let dueInMs = 0;
    for (;;) {
      await this.#nextLook();
      dueInMs -= LOOK_EVERY_MS;
      const found = fileFingerprint(this.#options.file);
      const seen = found === 'gone' || found === 'empty' ? undefined : found;
      if (seen !== file) {
        [file, failures, dueInMs] = [seen, 0, 0];
        this.#become(file === undefined ? 'absent' : 'changing');
        continue;
      }
      if (file === undefined || dueInMs > 0) continue;
      const outcome = await this.#upgradeTo(file);
      if (outcome === 'moved') file = undefined;
      else if (outcome === 'done') dueInMs = Infinity;
      else dueInMs = outcome === 'unfit' ? JUDGE_AGAIN_MS : backoffMs(BACKOFF, (failures += 1));
      this.#become(AFTER[outcome]);
    }
  }

  #nextLook(): Promise<void> {
    return this.#clock.wait(LOOK_EVERY_MS, { signal: this.#closing.signal });
  }

  async #upgradeTo(state: FileFingerprint): Promise<Outcome> {
    this.#become('examining');
    try {
      const offered = await this.#offer(state);
      if (typeof offered === 'string') return offered;
      this.#become('offered');
      return await this.#resultOf(offered.id);
    } catch (error) {
      this.#closing.signal.throwIfAborted();
      this.#warn('cannot upgrade to the watched file now', { found: messageOf(error) });
      return 'failed';
    }
  }

  async #offer(state: FileFingerprint): Promise<Outcome | { readonly id: string }> {
    const { file, service, runningFile, guard } = this.#options;
    const { signal } = this.#closing;
    const found = await examineProgram(file, state, guard, signal);
    if (found.kind === 'moved') return 'moved';
    if (found.kind === 'unfit') {
      this.#warn('the watched file is not trusted, or cannot be read', { found: found.found });
      return 'unfit';
    }
    const { sha1, sha256 } = found;
    if (sha1 === (await this.#options.runningSha1)) {
      this.#lastWarning = undefined;
      return 'done';
    }
    const decision = { action: 'upgrade', verdict: 'allowed', requester: 'watch' } as const;
    await this.#options.audit.decided({ ...decision, file, sha256, service, runningFile });
    const offer = { program: file, sha256, service, runningFile, signal };
    const outcome = await this.#options.upgrader().offerUpgrade(offer);
    if (outcome.kind === 'tried') {
      const tried = { sha256, ended: outcome.outcome, reason: outcome.reason };
      this.#warn('the watched file was tried before, and is not tried again', tried);
      return 'done';
    }
    const { id } = outcome;
    this.#lastWarning = undefined;
    this.#options.logger.info({ file, sha256, id }, 'the upgrade to the watched file begins');
    return { id };
  }

  /** The wait has a limit, because the helper may die without a result while this daemon continues. */
  async #resultOf(id: string): Promise<Outcome> {
    const { upgrader, service } = this.#options;
    for (let leftMs = LONGEST_UPGRADE_MS; leftMs > 0; leftMs -= LOOK_EVERY_MS) {
      await this.#nextLook();
      const latest = await upgrader().latestUpgrade(service);
      if (latest?.id !== id) continue;
      const { outcome, reason, to } = latest;
      this.#warn('the upgrade to the watched file has ended', { id, ended: outcome, reason });
      // A result without `to` says nothing about the program.
      // `failed` makes the watch try the program again later.
      return to === undefined ? 'failed' : 'done';
    }
    this.#warn('the upgrade to the watched file did not report its end', { id });
    return 'failed';
  }

  #become(state: WatchState): void {
    const facts = { file: this.#options.file, state };
    this.#options.logger.debug(facts, 'the watched file changed its state');
  }

  #warn(message: string, found: Readonly<Record<string, string>>): void {
    const text = JSON.stringify([message, found]);
    if (text === this.#lastWarning) return;
    this.#lastWarning = text;
    this.#options.logger.warn({ file: this.#options.file, ...found }, message);
  }
}
