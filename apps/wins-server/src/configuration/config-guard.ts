import {
  ConfigError,
  defaultConfigPath,
  describeLosses,
  guardedParts,
  judgeValues,
  presentKeys,
  type LoadedConfig,
} from '@wins/config';
import type { StateFile } from '@wins/files';
import { escapeText, quoteText, Serial, type GuardedKey } from '@wins/base';
import path from 'node:path';
import type { Kernel } from '../kernel/feature.js';
import { missingKeys, servedNote, type ServedNote } from './served-note.js';

type ConfigGuardParts = Pick<Kernel, 'logger' | 'events' | 'audit' | 'trust'>;

/** Returns the command that accepts the loss of keys. */
export function howToDrop(file: string, keys: readonly GuardedKey[]): string {
  const option = file === defaultConfigPath() ? '' : ` --config ${quoteText(file)}`;
  const allowed = keys.map((key) => ` --allow-drop ${key}`).join('');
  return `wins srv config reload${option}${allowed}`;
}

export function droppedIn(error: unknown): readonly GuardedKey[] {
  if (!(error instanceof ConfigError)) return [];
  const dropped = error.problems.filter(({ code }) => code === 'dropped');
  return dropped.map(({ keyPath }) => keyPath as GuardedKey);
}

/**
 * Keeps a daemon from losing guarded keys by accident. A reload may drop a key only if the request names the key, or if `permitDrops` has recorded
 * a permission beside the config. A start uses the config anyway, and only reports the lost keys.
 */
export class ConfigGuard implements AsyncDisposable {
  readonly #parts: ConfigGuardParts;
  readonly #state: StateFile<ServedNote>;
  #note: ServedNote;
  readonly #writes = new Serial();

  private constructor(parts: ConfigGuardParts, state: StateFile<ServedNote>, note: ServedNote) {
    this.#parts = parts;
    this.#state = state;
    this.#note = note;
    this.#save();
  }

  /**
   * Creates the guard for a daemon that starts. Compares its config with the note about the config served last, and reports guarded keys that
   * are now missing. If the note is unreadable, logs a warning and reports no keys.
   */
  static async begin(loaded: LoadedConfig, parts: ConfigGuardParts): Promise<ConfigGuard> {
    const { logger, trust } = parts;
    const { config } = loaded;
    const state = servedNote(config.listen, trust);
    const before = await state.read().catch((err: unknown) => {
      logger.warn({ err }, 'cannot read which config was served last');
      return undefined;
    });
    const keys = before === undefined ? [] : await missingKeys(before.served, loaded, trust);
    if (keys.length > 0) tellLost(keys, loaded, parts);
    const note = { lost: [], ...before, served: guardedParts(config) };
    return new ConfigGuard(parts, state, withLost(note, keys));
  }

  /** @throws ConfigError `invalid` for dropped keys. */
  async admit(next: LoadedConfig, allowed: readonly string[]): Promise<LoadedConfig> {
    const refused = await missingKeys(this.#note.served, next, this.#parts.trust, allowed);
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

  served({ config }: LoadedConfig): void {
    this.#note = withLost({ ...this.#note, served: guardedParts(config) });
    this.#save();
  }

  accept(allowed: readonly string[]): void {
    const lost = this.#note.lost.filter((key) => !allowed.includes(key));
    if (lost.length === this.#note.lost.length) return;
    this.#note = withLost({ ...this.#note, lost });
    this.#save();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writes.idle();
  }

  #save(): void {
    const { logger, trust } = this.#parts;
    const note = this.#note;
    void this.#writes.run(async () => {
      try {
        trust.ensurePrivateFolder(path.dirname(this.#state.path));
        await this.#state.write(note);
      } catch (err) {
        logger.warn(
          { err },
          'cannot record which config is served; the next start cannot report lost keys',
        );
      }
    });
  }
}

function tellLost(
  keys: readonly GuardedKey[],
  { path: file }: LoadedConfig,
  { logger, events, audit }: ConfigGuardParts,
): void {
  const nextStep = `put it back, or allow its removal: ${howToDrop(file, keys)}`;
  const facts = { keys, lost: describeLosses(keys), config: escapeText(file), nextStep };
  logger.warn(facts, 'the config lacks keys that were in force before this start');
  events.publish({ type: 'configLost', keys });
  audit.note('configLost', { keys });
}

function withLost(
  { served, lost, lostAt }: ServedNote,
  added: readonly GuardedKey[] = [],
): ServedNote {
  const isThere = presentKeys(served);
  const earlier = lost.filter((key) => !isThere[key] && !added.includes(key));
  const all = [...earlier, ...added];
  const at = added.length > 0 ? new Date().toISOString() : lostAt;
  return { served, lost: all, ...(all.length > 0 && at !== undefined && { lostAt: at }) };
}
