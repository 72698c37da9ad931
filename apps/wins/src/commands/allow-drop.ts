import { GUARDED_KEYS } from '@wins/base';
import { choicesOption } from '../command-line/option.js';

export const allowDropOption = choicesOption(
  GUARDED_KEYS,
  'Allow the new config to drop this key; repeatable',
  { placeholder: 'KEY' },
);

const sections = GUARDED_KEYS.filter((key) => key !== 'white_list');

/** Names the guarded keys in a sentence. */
export const guardedKeys = `${sections.slice(0, -1).join(', ')} or ${sections.at(-1)}, or the whole whitelist`;
