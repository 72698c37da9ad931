import { listOption, type Option } from '../command-line/option.js';
import { quoteText, UsageError } from '@wins/wins-program';

/** `GUARDED_KEYS` of `@wins/config`, which is more than a command line needs to read. */
const KEYS: readonly string[] = ['systemagent', 'csi-proxy', 'white_list'];

/** The keys that a config may drop; may be given more than once. */
export const allowDropOption = {
  ...listOption('Let the config drop this key: systemagent, csi-proxy or white_list; repeatable', {
    placeholder: 'KEY',
    choices: KEYS,
  }),
  read: (text: string) => {
    if (KEYS.includes(text)) return text;
    const found = `--allow-drop: found ${quoteText(text)}`;
    throw new UsageError(`${found}; wanted systemagent, csi-proxy or white_list`);
  },
} as unknown as Option<readonly string[]>;
