/**
 * One tree of commands: reading the words of a command line, running the command that they mean, its help, and completion by a shell.
 *
 * It owns: options and their values, the words of refusals, help, completion. It does not own: the commands, and how an answer is shown.
 *
 * @example
 * const root: Group = { name: 'wins', summary: 'Serve.', page: 'README.md', commands: [info] };
 * process.exitCode = await runCommandLine(root, process.argv.slice(2), showAnswer);
 * @module
 */
export {
  command,
  isGroup,
  type Command,
  type GlobalValues,
  type Given,
  type Group,
} from './command.js';
export {
  completeWords,
  completionsOf,
  type Completions,
  type ValueSources,
} from './completion/complete-words.js';
export { completionScript, SHELLS } from './completion/completion-script.js';
export { GLOBAL_OPTIONS } from './global-options.js';
export { usageLine } from './help-text.js';
export {
  choiceOption,
  digestOption,
  durationOption,
  listOption,
  numberOption,
  readOption,
  requiredOption,
  switchOption,
  textOption,
  type Completed,
  type Option,
  type Options,
  type ValuesOf,
} from './option.js';
export { readWords, type ReadWords } from './read-words.js';
export { runCommandLine, type ShowAnswer } from './run-command-line.js';
