import type { LoadedConfig } from '../load/load-config.js';
import { isDeepStrictEqual } from 'node:util';
import { fileFingerprint, type FileFingerprint } from '@wins/trusted-files';
import { messageOf, toldAddress } from '@wins/base';
import { maskedSettings } from '../explain/config-keys.js';
import type { WinsConfig } from '../wins-config.js';

/** Returns the key paths whose values differ between two successive configs; a list counts as one value. Pure. */
export function changedKeys(next: LoadedConfig, before: LoadedConfig): readonly string[] {
  const [old, now] = [valuesOf(before), valuesOf(next)];
  const keys = new Set([...now.keys(), ...old.keys()]);
  return [...keys].filter((key) => !isDeepStrictEqual(old.get(key), now.get(key)));
}

/** Collects values by key, because each entry of a list has its own origin. */
function valuesOf({ origins }: LoadedConfig): ReadonlyMap<string, readonly unknown[]> {
  const values = new Map<string, unknown[]>();
  for (const { key, value } of origins) {
    const list = key.replace(/\[\d+\]$/, '');
    const known = values.get(list);
    // An empty list has a single origin.
    const entries = Array.isArray(value) && value.length === 0 ? [] : [value];
    if (known === undefined) values.set(list, entries);
    else known.push(...entries);
  }
  return values;
}

/** Maximum characters of a value in one line. */
const SHOWN_CHARACTERS = 500;

/** Describes each change in one line, with secrets masked as in a support bundle. Pure; the lines contain untrusted text. */
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
  // Show only the keys that the entry sets: most of its lists are usually empty.
  const json = (one: unknown): string =>
    JSON.stringify(one, (key, part: unknown) =>
      key !== '' && isDeepStrictEqual(part, []) ? undefined : part,
    );
  const text = Array.isArray(value) && value.length > 0 ? value.map(json).join(' ') : json(value);
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
}

const LOOK_EVERY_MS = 1000;
/** Number of checks until a rejected file is retried: the cause may be outside the file, such as the permissions of its folder. */
const LOOKS_UNTIL_RETRY = 10;

/** Events of a changed config file. */
export interface ConfigWatchEvents<Change> {
  /** Called when the file changed and is valid. Returns the effect of the change. */
  readonly changed: (loaded: LoadedConfig) => Change;
  /** Called when the file was removed, or changed and cannot be used; the last valid config stays in force. */
  readonly rejected: (reason: unknown) => void;
}

/** A watched config file; disposing it ends the watch. */
export interface ConfigWatch<Change> extends Disposable {
  /**
   * Loads the file now, by default with the usual loader, whether it changed or not, and puts it in force. A failure is
   * also reported to `rejected`.
   *
   * @throws ConfigError, or Error for a file that was removed or is empty.
   */
  reload(
    load?: () => Promise<LoadedConfig>,
  ): Promise<{ readonly loaded: LoadedConfig; readonly change: Change }>;
}

/** Returns the present state of the config file; a link is followed. */
export function configFingerprint(file: string): FileFingerprint {
  return fileFingerprint(file, { followLinks: true });
}

/**
 * Follows a config file by polling once a second, which detects replaced files and links on any file system. A change is
 * accepted once two successive checks, and one after loading, see the same state, because a file that is written in
 * place can be read half-written. A rejected file is retried every ten seconds; `rejected` is called again only when
 * the reason changed.
 *
 * @param known State of the file before it was loaded.
 * @param load Loads and judges the file.
 * @param refused Reason of an earlier rejection. Default: the file is in force.
 */
export function watchConfig<Change>(
  file: string,
  known: FileFingerprint,
  events: ConfigWatchEvents<Change>,
  load: () => Promise<LoadedConfig>,
  refused?: Error,
): ConfigWatch<Change> {
  // Reason of the last rejection; cleared when a file is in force.
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
  // Loads one at a time and in order, so that a slow load cannot overtake a later one.
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
    // The file may have changed during loading; if so, the next checks decide.
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
    const isRejected = isSame && !isChanging && isThere && reason !== undefined;
    const isDue = isRejected && (looks += 1) % LOOKS_UNTIL_RETRY === 0;
    if (isDue || (isSame && isChanging)) loading = loading.then(() => loadOnce(state, isDue));
    isChanging = !isSame && isThere;
    // Reject a missing or empty file: editors and failed copies leave one behind, and nobody empties a whitelist that way.
    if (!isSame && !isChanging) reject(unusable(file, state));
  };
  const loadNow = async (loadThis: () => Promise<LoadedConfig>) => {
    try {
      const state = configFingerprint(file);
      // Accept an absent or empty file only if that state is already in force.
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
