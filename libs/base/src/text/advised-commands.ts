import { DEFAULT_PIPE_NAME } from '../names.js';
import { quoteText } from './escape-text.js';

/** Options of the command that gives advice. */
export interface GivenOptions {
  /** Undefined: the usual file. */
  readonly config?: string | undefined;
  /** Name or path of the daemon's pipe. */
  readonly server?: string | undefined;
}

/** A command, up to the end of its words. A quoted word may contain anything. */
const COMMAND = /\bwins (?:srv|cli|doctor|status|logs)(?: (?:"[^"]*"|[^\s"',;()]*[^\s"',;:.()]))*/g;
const PLAIN = /^[\w./\\:@+=,-]+$/;
const NEEDS_ESCAPES = /["\p{C}]/u;

/** Adds the options to the commands that a text advises to run, so that they work as printed. Commands that have the option keep theirs. */
export function withGivenOptions(text: string, { config, server }: GivenOptions): string {
  return text.replace(COMMAND, (command) => {
    const isClient = command.startsWith('wins cli');
    const [option, value] = isClient ? ['--server', server] : ['--config', config];
    if (value === undefined || (isClient && value === DEFAULT_PIPE_NAME)) return command;
    if (command.includes(` ${option}`)) return command;
    return `${command} ${option} ${commandWord(value)}`;
  });
}

/** Quotes a word for a command line that is shown, if it needs quotes. Leaves the backslashes of a Windows path as they are. */
export function commandWord(value: string): string {
  if (PLAIN.test(value)) return value;
  return NEEDS_ESCAPES.test(value) ? quoteText(value) : `"${value}"`;
}
