import { type LoadedConfig } from '@wins/config';
import { fileFingerprint, type FileFingerprint } from '@wins/trusted-files';
import { loadDaemonConfig } from './load-daemon-config.js';

const LOOK_EVERY_MS = 1000;

/** What happened to a changed config file. */
export interface ConfigWatchEvents {
  /** The file changed and is valid. */
  readonly changed: (loaded: LoadedConfig) => void;
  /** The file changed and cannot be used, or it has gone: what was valid last stays in force. */
  readonly rejected: (reason: unknown) => void;
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
 * @param known - The state of the file before it was loaded.
 */
export function watchConfig(
  file: string,
  known: FileFingerprint,
  events: ConfigWatchEvents,
): Disposable {
  let seen = known;
  let isChanging = false;
  // One load at a time, the newest last: a slow one must not overtake a later one.
  let loading = Promise.resolve();
  const load = async (decidedOn: FileFingerprint): Promise<void> => {
    let report: () => void;
    try {
      const loaded = await loadDaemonConfig(file);
      report = () => events.changed(loaded);
    } catch (error) {
      report = () => events.rejected(error);
    }
    // The file may have changed while it was loaded: then the next looks decide.
    if (configFingerprint(file) === decidedOn) report();
    else isChanging ||= seen === decidedOn;
  };
  const look = (): void => {
    const state = configFingerprint(file);
    const isSame = state === seen;
    seen = state;
    if (isSame && isChanging) loading = loading.then(() => load(state));
    isChanging = !isSame && state !== 'gone' && state !== 'empty';
    // Editors and failed copies leave an empty file; it is not how a whitelist is emptied.
    if (!isSame && !isChanging) events.rejected(new Error(`the config file ${file} is ${state}`));
  };
  const timer = setInterval(look, LOOK_EVERY_MS).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
