import { fileError, type ConfigError } from '../config-error.js';
import type { LoadedConfig } from '../load/load-config.js';
import { isDeepStrictEqual } from 'node:util';
import { fileFingerprint, type FileFingerprint } from '@wins/trusted-files';
import { messageOf, Serial, toldAddress } from '@wins/base';
import { maskedSettings } from '../explain/config-keys.js';
import type { WinsConfig } from '../gen/wins-config.js';

/** Returns the key paths whose values differ. A list, with all below it, counts as one value. A key without a value counts as absent. */
export function changedKeys(next: LoadedConfig, before: LoadedConfig): readonly string[] {
  const [old, now] = [valuesOf(before), valuesOf(next)];
  const keys = new Set([...now.keys(), ...old.keys()]);
  return [...keys].filter((key) => !isDeepStrictEqual(old.get(key) ?? [], now.get(key) ?? []));
}

/** Groups the entries of a list under its key, because each entry has its own origin. */
function valuesOf({ origins }: LoadedConfig): ReadonlyMap<string, readonly unknown[]> {
  const values = new Map<string, unknown[]>();
  for (const { key, value } of origins) {
    const list = key.replace(/\[\d+\].*$/, '');
    const known = values.get(list);
    // `origins` has one element for each entry of a list, but for an empty list it has the list itself.
    const isNothing = value === undefined || (Array.isArray(value) && value.length === 0);
    const entries = isNothing ? [] : [value];
    if (known === undefined) values.set(list, entries);
    else known.push(...entries);
  }
  return values;
}

const SHOWN_CHARACTERS = 500;

/** One line for each change, with masked secrets. The lines contain untrusted text. */
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
  // Omit empty lists, because most lists of an entry are empty.
  const json = (one: unknown): string =>
    JSON.stringify(one, (key, part: unknown) =>
      key !== '' && isDeepStrictEqual(part, []) ? undefined : part,
    );
  const text = Array.isArray(value) && value.length > 0 ? value.map(json).join(' ') : json(value);
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
}

const LOOK_EVERY_MS = 1000;
/** Number of checks until a rejected file is loaded again. The fault may lie outside the file, such as in the permissions of its folder. */
const LOOKS_UNTIL_RETRY = 10;

/** Callbacks of {@link watchConfig}, which checks the file once a second. */
export interface ConfigWatchEvents<Change> {
  /** The file changed and is valid. Returns the effect of the change. */
  readonly changed: (loaded: LoadedConfig) => Change;
  /** The file was removed, or is invalid now. The last valid config stays in force. */
  readonly rejected: (reason: unknown) => void;
}

/** A watched config file; disposing it ends the watch. */
export interface ConfigWatch<Change> extends Disposable {
  /**
   * Loads the file now, changed or not, and puts it in force. Reports a failure to `rejected` and throws it.
   *
   * @throws ConfigError, also `notFound` for a removed or empty file; Error if the watch has ended.
   */
  reload(
    load?: () => Promise<LoadedConfig>,
  ): Promise<{ readonly loaded: LoadedConfig; readonly change: Change }>;
}

/** Returns a value that changes whenever the file's identity, size or times change. Follows links, so that a replaced target counts. */
export function configFingerprint(file: string): FileFingerprint {
  return fileFingerprint(file, { followLinks: true });
}

/**
 * Polls a config file once a second, which detects replaced files and links on any file system. Two successive checks, and one
 * after loading, must see the same state, because a file may be half-written. Retries a rejected file every ten seconds, but
 * calls `rejected` again only for a new reason.
 *
 * @param known State of the file before it was loaded.
 * @param refused Why the present file was rejected. Undefined if the file is in force.
 */
export function watchConfig<Change>(
  file: string,
  known: FileFingerprint,
  events: ConfigWatchEvents<Change>,
  load: () => Promise<LoadedConfig>,
  refused?: Error,
): ConfigWatch<Change> {
  // Why the file was rejected; undefined while it is in force.
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
  // One load at a time, so that a slow load cannot replace the result of a later one.
  const loads = new Serial();
  const loadOnce = async (decidedOn: FileFingerprint, isRetry: boolean): Promise<void> => {
    let report: () => unknown;
    try {
      const loaded = await load();
      report = () => {
        inForce = decidedOn;
        reason = undefined;
        return events.changed(loaded);
      };
    } catch (error) {
      const isKnown = isRetry && messageOf(error) === reason;
      report = () => (isKnown ? undefined : reject(error));
    }
    if (isOver) return;
    // Reports only if the file did not change during loading. Otherwise the next checks decide.
    if (configFingerprint(file) === decidedOn) report();
    else isChanging ||= seen === decidedOn;
  };
  const look = (): void => {
    const state = configFingerprint(file);
    const isSame = state === seen;
    seen = state;
    const isThere = state !== 'gone' && state !== 'empty';
    const isRejected = isSame && !isChanging && isThere && reason !== undefined;
    const isDue = isRejected && (looks += 1) % LOOKS_UNTIL_RETRY === 0;
    if (isDue || (isSame && isChanging)) void loads.run(() => loadOnce(state, isDue));
    isChanging = !isSame && isThere;
    // Rejects a missing or empty file, so the config in force stays. The likely cause is an editor or a failed copy.
    if (!isSame && !isChanging) reject(unusable(file, state));
  };
  const loadNow = async (loadThis: () => Promise<LoadedConfig>) => {
    try {
      const state = configFingerprint(file);
      // Accept a missing or empty file only if that state is already in force.
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
    reload: (loadThis = load) => loads.run(() => loadNow(loadThis)),
    [Symbol.dispose]: () => {
      isOver = true;
      clearInterval(timer);
    },
  };
}

function unusable(file: string, state: FileFingerprint): ConfigError {
  return fileError('notFound', file, `that it is ${state}`, 'a config');
}
