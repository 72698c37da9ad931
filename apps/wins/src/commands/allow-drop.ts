import { GUARDED_KEYS } from '@wins/base';
import { choicesOption } from '../command-line/option.js';

export const allowDropOption = choicesOption(
  'allow-drop',
  GUARDED_KEYS,
  'Allow the new config to drop this key; repeatable',
  { placeholder: 'KEY' },
);
