import type { LoadedConfig } from '../load/load-config.js';
import { isDeepStrictEqual } from 'node:util';
import { fileFingerprint, type FileFingerprint } from '@wins/trusted-files';
import { messageOf, toldAddress } from '@wins/base';
import { maskedSettings } from '../explain/config-keys.js';
import type { WinsConfig } from '../wins-config.js';

/**
 * Compares a config with the one before it. Pure.
 *
 * @returns the key paths that have other values, lists as a whole; never values.
 */
export function changedKeys(next: LoadedConfig, before: LoadedConfig): readonly string[] {
  const [old, now] = [valuesOf(before), valuesOf(next)];
  const keys = new Set([...now.keys(), ...old.keys()]);
  return [...keys].filter((key) => !isDeepStrictEqual(old.get(key), now.get(key)));
}

/** A list has an origin for each entry. */
function valuesOf({ origins }: LoadedConfig): ReadonlyMap<string, readonly unknown[]> {
  const values = new Map<string, unknown[]>();
  for (const { key, value } of origins) {
    const list = key.replace(/\[\d+\]$/, '');
    const known = values.get(list);
    // An empty list has one origin.
    const entries = Array.isArray(value) && value.length === 0 ? [] : [value];
    if (known === undefined) values.set(list, entries);
    else known.push(...entries);
  }
  return values;
}

/** Limit of the characters of a value that a line repeats. */
const SHOWN_CHARACTERS = 500;

/**
 * Says in a line for each key what its value was and is: of a list the entries that went and came. A value that may be secret is left out, as
 * in a support bundle. Pure; the lines hold foreign text.
 */
export function describeChanges(
  keys: readonly string[],
  next: WinsConfig,
  before: WinsConfig,
): readonly string[] {
  const [old, now] = [maskedSettings(before, toldAddress), maskedSettings(next, toldAddress)];
  return keys.map((key) => `${key}: ${changeOf(valueAt(old, key), valueAt(now, key))}`);
}

function valueAt(settings: unknown, key: string): unknown {
  return key
    .split('.')
    .reduce<unknown>(
      (value, name) => (value as Record<string, unknown> | undefined)?.[name],
      settings,
    );
}

function changeOf(old: unknown, now: unknown): string {
  if (isDeepStrictEqual(old, now)) return 'changed (value not shown)';
  if (!Array.isArray(old) || !Array.isArray(now)) return `${shown(old)} → ${shown(now)}`;
  const [gone, come] = [entriesWithout(old, now), entriesWithout(now, old)];
  const parts = [
    ...(gone.length === 0 ? [] : [`removed ${shown(gone)}`]),
    ...(come.length === 0 ? [] : [`added ${shown(come)}`]),
  ];
  return parts.length === 0 ? 'reordered' : parts.join(', ');
}

function entriesWithout(all: readonly unknown[], others: readonly unknown[]): readonly unknown[] {
  return all.filter((entry) => !others.some((other) => isDeepStrictEqual(entry, other)));
}

function shown(value: unknown): string {
  if (value === undefined) return 'not set';
  // Of an entry only what it says: most have no list of their own.
  const json = (one: unknown): string =>
    JSON.stringify(one, (key, part: unknown) =>
      key !== '' && isDeepStrictEqual(part, []) ? undefined : part,
    );
  const text = Array.isArray(value) && value.length > 0 ? value.map(json).join(' ') : json(value);
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
}

const LOOK_EVERY_MS = 1000;
/** Looks until a rejected file is tried again, because its fault may lie elsewhere, such as in the rights of its folder. */
const LOOKS_UNTIL_RETRY = 10;

/** Events of a changed config file. */
export interface ConfigWatchEvents<Change> {
  /** The file changed and is valid. Returns what that changes. */
  readonly changed: (loaded: LoadedConfig) => Change;
  /** The file changed and cannot be used, or it has gone: what was valid last stays in force. */
  readonly rejected: (reason: unknown) => void;
}

/** A config file that is followed, until it is disposed. */
export interface ConfigWatch<Change> extends Disposable {
  /**
   * Loads the file now, whether it changed or not, and puts it in force; what cannot be used goes to `rejected` as well.
   *
   * @param load - Loads and judges it this once. Default: as each time.
   * @throws ConfigError, or Error for a file that has gone or is empty.
   */
  reload(
    load?: () => Promise<LoadedConfig>,
  ): Promise<{ readonly loaded: LoadedConfig; readonly change: Change }>;
}

/** The state of the config file as it is now; a link is followed. */
export function configFingerprint(file: string): FileFingerprint {
  return fileFingerprint(file, { followLinks: true });
}

/**
 * Follows a config file by looking at it once a second, which sees replaced files, links and files
 * on any file system alike. A change counts once the file is the same at two looks in a row, and
 * still after it was loaded: one that is written in place can be seen half.
 *
 * A file that was rejected is tried again every ten seconds, and rejected again only for another reason.
 *
 * @param known - The state of the file before it was loaded.
 * @param load - Loads and judges the file.
 * @param refused - Why it was rejected before, so that it is not in force. Default: it is.
 */
export function watchConfig<Change>(
  file: string,
  known: FileFingerprint,
  events: ConfigWatchEvents<Change>,
  load: () => Promise<LoadedConfig>,
  refused?: Error,
): ConfigWatch<Change> {
  // The last reason of a rejection, until a file is in force.
  let reason = refused === undefined ? undefined : messageOf(refused);
  let looks = 0;
  const reject = (error: unknown): void => {
    reason = messageOf(error);
    events.rejected(error);
  };
  let seen = known;
  let isChanging = false;
  let inForce = known;
  let isOver = false;
  // One load at a time, the newest last: a slow one must not overtake a later one.
  let loading: Promise<unknown> = Promise.resolve();
  const loadOnce = async (decidedOn: FileFingerprint, isRetry: boolean): Promise<void> => {
    let report: () => unknown;
    try {
      const loaded = await load();
      report = () => {
        reason = undefined;
        return events.changed(loaded);
      };
    } catch (error) {
      const isKnown = isRetry && messageOf(error) === reason;
      report = () => (isKnown ? undefined : reject(error));
    }
    if (isOver) return;
    // The file may have changed while it was loaded: then the next looks decide.
    if (configFingerprint(file) === decidedOn) {
      inForce = decidedOn;
      report();
    } else {
      isChanging ||= seen === decidedOn;
    }
  };
  const look = (): void => {
    const state = configFingerprint(file);
    const isSame = state === seen;
    seen = state;
    const isThere = state !== 'gone' && state !== 'empty';
    const isDue =
      isSame &&
      !isChanging &&
      isThere &&
      reason !== undefined &&
      (looks += 1) % LOOKS_UNTIL_RETRY === 0;
    if (isDue || (isSame && isChanging)) loading = loading.then(() => loadOnce(state, isDue));
    isChanging = !isSame && isThere;
    // Editors and failed copies leave an empty file; it is not how a whitelist is emptied.
    if (!isSame && !isChanging) reject(unusable(file, state));
  };
  const loadNow = async (loadThis: () => Promise<LoadedConfig>) => {
    try {
      const state = configFingerprint(file);
      // A file may be absent or empty, but not when there was one before.
      const isNothing = state === 'empty' || state === 'gone';
      if (isNothing && state !== inForce) throw unusable(file, state);
      seen = state;
      isChanging = false;
      const loaded = await loadThis();
      if (isOver) throw new Error('the daemon is stopping');
      inForce = state;
      reason = undefined;
      return { loaded, change: events.changed(loaded) };
    } catch (error) {
      if (!isOver) reject(error);
      throw error;
    }
  };
  const timer = setInterval(look, LOOK_EVERY_MS).unref();
  return {
    reload: (loadThis = load) => {
      const reloaded = loading.then(() => loadNow(loadThis));
      loading = reloaded.catch(() => undefined);
      return reloaded;
    },
    [Symbol.dispose]: () => {
      isOver = true;
      clearInterval(timer);
    },
  };
}

function unusable(file: string, state: FileFingerprint): Error {
  return new Error(`the config file ${file} is ${state}`);
}
