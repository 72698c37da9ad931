import { GUARDED_KEYS } from '@wins/base';
import { choicesOption } from '../command-line/option.js';

/** The keys that a config may drop; may be given more than once. */
export const allowDropOption = choicesOption(
  'allow-drop',
  GUARDED_KEYS,
  'Allow the new config to drop this key; repeatable',
  { placeholder: 'KEY' },
);
