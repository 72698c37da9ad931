import { switchOption } from './option.js';

/** What every command takes. */
export const GLOBAL_OPTIONS = {
  debug: switchOption('Log more'),
  quiet: switchOption('Log nothing'),
  help: { ...switchOption('Say how to use the command'), short: 'h' },
  version: { ...switchOption('Say which release this is'), short: 'v' },
} as const;
