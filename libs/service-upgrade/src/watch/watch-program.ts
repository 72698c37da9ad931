import { fileFingerprint } from '@wins/trusted-files';
import { messageOf } from '@wins/wins-program';
import type { Upgrader } from '../run/offer-upgrade.js';
import { examineProgram, type FileGuard } from './examine-program.js';
import { advance, type FileWatch, type FileWatchEvent } from './file-watch.js';

const LOOK_EVERY_MS = 1000;

/** The log of a watch; a logger of pino is one. */
export type WatchLog = Readonly<
  Record<'debug' | 'info' | 'warn' | 'error', (facts: object, message: string) => void>
>;

/** What a watch works with. */
export interface WatchOptions {
  /** An absolute path, in the spelling of the system. */
  readonly file: string;
  /** The service that this daemon is. */
  readonly service: string;
  /** The program that this daemon is, and its SHA-1. */
  readonly runningFile: string;
  readonly runningSha1: Promise<string>;
  readonly guard: FileGuard;
  /** An upgrade begins once it is recorded. */
  readonly audit: {
    decided(
      decision: { readonly action: 'upgrade'; readonly verdict: 'allowed' } & Readonly<
        Record<'requester' | 'file' | 'sha256' | 'service' | 'runningFile', string>
      >,
    ): Promise<void> | undefined;
  };
  /** Loaded when a program is found that does not run already. */
  readonly upgrader: () => Upgrader;
  readonly logger: WatchLog;
}

/**
 * Looks at a file once a second, and begins an upgrade when it has become another program than the one that runs. While a file is
 * examined, it is not looked at. It keeps no process alive.
 */
export class ProgramWatch {
  #watch: FileWatch = { kind: 'absent' };
  #work: Promise<void> | undefined;
  #lastWarning: string | undefined;
  readonly #closing = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #options: WatchOptions;

  constructor(options: WatchOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS).unref();
  }

  /** Ends the watch; no upgrade begins after that. Idempotent. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#closing.abort();
    await this.#work;
  }

  #look(): void {
    if (this.#work !== undefined) return;
    const state = fileFingerprint(this.#options.file);
    const isThere = state !== 'gone' && state !== 'empty';
    this.#advance({ kind: 'seen', file: isThere ? state : undefined });
    const work = this.#task();
    if (work === undefined) return;
    this.#work = work
      .then((event) => event && this.#advance(event))
      .catch((error: unknown) => {
        if (this.#closing.signal.aborted) return;
        this.#warn('cannot upgrade to the watched file now', { found: messageOf(error) });
        this.#advance({ kind: 'failed' });
      })
      .finally(() => (this.#work = undefined));
  }

  /** The task of the present state; it resolves with what comes of it. */
  #task(): Promise<FileWatchEvent | undefined> | undefined {
    const watch = this.#watch;
    if (watch.kind === 'examining') return this.#examine(watch.file);
    return watch.kind === 'offered' ? this.#askResult(watch.id, watch.untilMs) : undefined;
  }

  async #examine(state: string): Promise<FileWatchEvent> {
    const { file, service, runningFile, guard } = this.#options;
    const { signal } = this.#closing;
    const found = await examineProgram(file, state, guard, signal);
    if (found.kind === 'moved') return { kind: 'moved' };
    if (found.kind === 'unfit') {
      this.#warn('the watched file is not trusted, or cannot be read', { found: found.found });
      return { kind: 'unfit' };
    }
    const { sha1, sha256 } = found;
    if (sha1 === (await this.#options.runningSha1)) {
      this.#lastWarning = undefined;
      return { kind: 'done' };
    }
    const decision = { action: 'upgrade', verdict: 'allowed', requester: 'watch' } as const;
    await this.#options.audit.decided({ ...decision, ...{ file, sha256, service, runningFile } });
    const offer = { program: file, sha256, service, runningFile, signal };
    const outcome = await this.#options.upgrader().offerUpgrade(offer);
    if (outcome.kind === 'tried') {
      const tried = { sha256, ended: outcome.outcome, reason: outcome.reason };
      this.#warn('the watched file was tried before, and is not tried again', tried);
      return { kind: 'done' };
    }
    const { id } = outcome;
    this.#lastWarning = undefined;
    this.#options.logger.info({ file, sha256, id }, 'the upgrade to the watched file begins');
    return { kind: 'handedOver', id };
  }

  /** This daemon lives on when the upgrade is refused, or its helper dies. */
  async #askResult(id: string, untilMs: number): Promise<FileWatchEvent | undefined> {
    const latest = await this.#options.upgrader().latestUpgrade(this.#options.service);
    if (latest?.id === id) {
      const { outcome, reason, to } = latest;
      this.#warn('the upgrade to the watched file has ended', { id, ended: outcome, reason });
      // Where nothing is known of the program, it was not judged either.
      return { kind: to === undefined ? 'failed' : 'done' };
    }
    if (performance.now() < untilMs) return undefined;
    this.#warn('the upgrade to the watched file did not report its end', { id });
    return { kind: 'failed' };
  }

  #advance(event: FileWatchEvent): void {
    const next = advance(this.#watch, event, performance.now());
    if (next === this.#watch) return;
    this.#watch = next;
    const facts = { file: this.#options.file, state: next.kind };
    this.#options.logger.debug(facts, 'the watched file changed its state');
  }

  /** Warns; the same warning is not repeated. */
  #warn(message: string, found: Readonly<Record<string, string>>): void {
    const text = JSON.stringify([message, found]);
    if (text === this.#lastWarning) return;
    this.#lastWarning = text;
    this.#options.logger.warn({ file: this.#options.file, ...found }, message);
  }
}
