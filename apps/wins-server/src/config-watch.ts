import { loadConfig, type LoadedConfig } from '@wins/config';
import { unwatchFile, watchFile, type Stats } from 'node:fs';

const LOOK_EVERY_MS = 1000;
/** A file that is written in place can be seen half; one that rested for longer than a look is whole. */
const SETTLE_MS = 1500;

/** What became of a changed config file. */
export interface ConfigWatchEvents {
  /** The file changed and is valid. */
  readonly changed: (loaded: LoadedConfig) => void;
  /** The file changed and cannot be used, or it has gone: what was valid last stays in force. */
  readonly rejected: (reason: unknown) => void;
}

/**
 * Follows a config file by looking at it once a second, which sees replaced files, links and files
 * on any file system alike. A change counts once the file has rested.
 */
export function watchConfig(file: string, events: ConfigWatchEvents): Disposable {
  // One load at a time, the newest last: a slow one must not overtake a later one.
  let loading = Promise.resolve();
  let settling: NodeJS.Timeout | undefined;
  const load = (): void => {
    loading = loading.then(async () => {
      try {
        events.changed(await loadConfig(file));
      } catch (error) {
        events.rejected(error);
      }
    });
  };
  const look = ({ nlink, size }: Stats): void => {
    clearTimeout(settling);
    // Nobody empties a whitelist like that: it is how editors and failed copies leave a file.
    if (nlink === 0) events.rejected(new Error(`the config file ${file} has gone`));
    else if (size === 0) events.rejected(new Error(`the config file ${file} is empty`));
    else settling = setTimeout(load, SETTLE_MS).unref();
  };
  watchFile(file, { persistent: false, interval: LOOK_EVERY_MS }, look);
  return {
    [Symbol.dispose]: () => {
      clearTimeout(settling);
      unwatchFile(file, look);
    },
  };
}
