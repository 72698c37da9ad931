import { describeLosses, reporter, Serial, type GuardedKey } from '@wins/base';
import { ConfigHistory, type HistoryTrust, type LostKeys } from '../history/config-history.js';
import { forgetDeliveries, permittedDrops } from '../history/deliveries.js';
import { judgeValues } from '../load/judge-values.js';
import type { ConfigTrust, LoadedConfig } from '../load/load-config.js';
import type { WinsConfig } from '../gen/wins-config.js';
import { droppedKeys, presentKeys } from './dropped-keys.js';

const LOOK_EVERY_MS = 1000;
const UNREADABLE = 'cannot read which config was served last, so lost keys are not reported';
const NOT_KEPT =
  'cannot keep a copy of the config in force: a start with an invalid file has nothing to fall back to';
const NOT_REMOVED = 'cannot remove what deliveries of this config have left beside it';

/** Rules and callbacks that {@link ConfigGuard.begin} needs. */
export interface ConfigGuardOptions {
  /** Trust rules of the history and of permissions. */
  readonly trust: HistoryTrust;
  /**
   * True when this program may store a config. A daemon on trial may not: after a rollback, the previous daemon needs its own config. While false,
   * asked each second.
   */
  readonly isProven: () => boolean;
  /** Returns the advice how to allow the loss of keys. */
  readonly howToDrop: (file: string, keys: readonly GuardedKey[]) => string;
  /** Gets a sentence that says what was tried and what follows, and the error. The guard works on. */
  readonly onFailure: (problem: string, error: unknown) => unknown;
}

/**
 * Keeps a daemon from losing guarded keys by accident, and stores each config that takes effect in its {@link ConfigHistory}. A reload may drop a key
 * only if the request names the key, or if `permitDrops` has recorded a permission. A start uses the config anyway, and only learns which keys are lost.
 */
export class ConfigGuard implements AsyncDisposable {
  readonly #options: ConfigGuardOptions;
  readonly #history: ConfigHistory;
  #inForce: LoadedConfig;
  #lost: LostKeys;
  #isStored = true;
  #timer: NodeJS.Timeout | undefined;
  readonly #writes = new Serial();

  private constructor(loaded: LoadedConfig, history: ConfigHistory, options: ConfigGuardOptions) {
    this.#options = { ...options, onFailure: reporter(options.onFailure) };
    this.#history = history;
    this.#inForce = loaded;
    this.#lost = { keys: [] };
  }

  /** Resolves with the guard of a daemon that starts, and with the guarded keys that the config served last had, and this one lacks. */
  static async begin(
    loaded: LoadedConfig,
    options: ConfigGuardOptions,
  ): Promise<{ readonly guard: ConfigGuard; readonly lost: readonly GuardedKey[] }> {
    const history = new ConfigHistory(loaded.path, options.trust);
    const guard = new ConfigGuard(loaded, history, options);
    const before = await history.loadServed().catch((error: unknown) => {
      guard.#options.onFailure(UNREADABLE, error);
    });
    if (before === undefined) return { guard, lost: [] };
    const lost = await missingKeys(before.config, loaded, options.trust);
    const present = presentKeys(before.config);
    const earlier = before.lost.keys.filter((key) => !present.has(key) && !lost.includes(key));
    const since = lost.length > 0 ? new Date().toISOString() : before.lost.since;
    guard.#lost = { keys: [...earlier, ...lost], since };
    return { guard, lost };
  }

  /** Resolves with a config that may take effect. @throws ConfigError `invalid` if it drops keys other than those in `allowed`. */
  async admit(next: LoadedConfig, allowed: readonly string[]): Promise<LoadedConfig> {
    const { trust, howToDrop } = this.#options;
    const refused = await missingKeys(this.#inForce.config, next, trust, allowed);
    return judgeValues(
      next,
      refused.map((key) => ({
        severity: 'error',
        code: 'dropped',
        keyPath: key,
        found: `that it is missing: ${describeLosses([key])}`,
        expected: 'the value that is in force',
        nextStep: `put it back, or allow its removal: ${howToDrop(next.path, refused)}`,
      })),
    );
  }

  /** Stores the config once this program is proven, unless a newer config replaces it first. */
  served(loaded: LoadedConfig): void {
    const present = presentKeys(loaded.config);
    this.#inForce = loaded;
    this.#keepLost((key) => !present.has(key));
    this.#isStored = false;
    this.#store();
  }

  /** Forgets that these keys were lost at a start. */
  accept(allowed: readonly string[]): void {
    if (!this.#lost.keys.some((key) => allowed.includes(key))) return;
    this.#keepLost((key) => !allowed.includes(key));
    this.#isStored = false;
    this.#store();
  }

  /** Writes a waiting config if this program is proven. Idempotent. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#store();
    clearTimeout(this.#timer);
    await this.#writes.idle();
  }

  #keepLost(isLost: (key: GuardedKey) => boolean): void {
    this.#lost = { ...this.#lost, keys: this.#lost.keys.filter(isLost) };
  }

  #store(): void {
    clearTimeout(this.#timer);
    if (this.#isStored) return;
    if (this.#options.isProven()) void this.#writes.run(() => this.#write());
    else this.#timer = setTimeout(() => this.#store(), LOOK_EVERY_MS).unref();
  }

  async #write(): Promise<void> {
    if (this.#isStored) return;
    this.#isStored = true;
    const { path: file, bytes, sha256 } = this.#inForce;
    try {
      // A host without a config gets no history.
      if (bytes !== undefined || (await this.#history.newest('served').catch(() => undefined)))
        await this.#history.add('served', bytes, this.#lost);
    } catch (error) {
      this.#options.onFailure(NOT_KEPT, error);
      return;
    }
    try {
      // A daemon that stores its own configs needs none of those that deliveries have replaced, and no permission for this one.
      await forgetDeliveries(file, sha256);
    } catch (error) {
      this.#options.onFailure(NOT_REMOVED, error);
    }
  }
}

/** Returns the guarded keys of an earlier config that a loaded one lacks, unless they are allowed or the config has the permission to drop them. */
export async function missingKeys(
  before: WinsConfig,
  { config, path, sha256 }: LoadedConfig,
  trust: ConfigTrust,
  allowed: readonly string[] = [],
): Promise<readonly GuardedKey[]> {
  const dropped = droppedKeys(before, config).filter((key) => !allowed.includes(key));
  if (dropped.length === 0) return [];
  const permitted = await permittedDrops(path, sha256, trust);
  return dropped.filter((key) => !permitted.includes(key));
}
