import { switchOption } from './option.js';

/** What every command takes. */
export const GLOBAL_OPTIONS = {
  debug: switchOption('Print more about what the command does'),
  quiet: switchOption('Print no messages: no progress, no log, no errors'),
  help: { ...switchOption('Print the help of the command'), short: 'h' },
  version: { ...switchOption('Print the version'), short: 'v' },
} as const;
