import { loadConfig, type LoadedConfig } from '@wins/config';
import { unwatchFile, watchFile } from 'node:fs';

const LOOK_EVERY_MS = 1000;

/** What became of a changed config file. */
export interface ConfigWatchEvents {
  /** The file changed and is valid. */
  readonly changed: (loaded: LoadedConfig) => void;
  /** The file changed and cannot be used, or it has gone: what was valid last stays in force. */
  readonly rejected: (reason: unknown) => void;
}

/**
 * Follows a config file by looking at it once a second, which sees replaced files, links and files
 * on any file system alike.
 */
export function watchConfig(file: string, events: ConfigWatchEvents): Disposable {
  // One look at a time, the newest last: a slow load must not overtake a later one.
  let looking = Promise.resolve();
  const look = (): void => {
    looking = looking.then(async () => {
      try {
        const loaded = await loadConfig(file);
        if (loaded.found) events.changed(loaded);
        else events.rejected(new Error(`the config file ${file} has gone`));
      } catch (error) {
        events.rejected(error);
      }
    });
  };
  watchFile(file, { persistent: false, interval: LOOK_EVERY_MS }, look);
  return { [Symbol.dispose]: () => unwatchFile(file, look) };
}
