import { VERSION, type Answer, type Show } from '@wins/wins-program';
import yargs, { type Argv } from 'yargs';
import { isGroup, type Command, type Group } from './command.js';
import { GLOBAL_OPTIONS } from './global-options.js';
import { epilogue, usageLine } from './help-text.js';
import type { Option, Options } from './option.js';
import { optionsAt, type ReadWords } from './read-words.js';

/**
 * Prints an answer in the form that `--output` names, or in the usual one; false when the reader has gone.
 */
export type ShowAnswer = (answer: Answer, form: unknown) => Promise<boolean>;

/** Wider lines are hard to read. */
const WIDEST = 100;

/**
 * Runs the command of a command line that was read, or prints its help.
 *
 * @returns The exit code.
 * @throws UsageError for values that cannot be; what the handler throws.
 */
export async function runWords(
  root: Group,
  read: ReadWords,
  showAnswer: ShowAnswer,
): Promise<number> {
  let exitCode = 0;
  const { help, version, ...more } = GLOBAL_OPTIONS;
  const parser = yargs();
  parser
    // The words of the environment that choose a language would choose a file to be read.
    .detectLocale(false)
    .scriptName('wins')
    .parserConfiguration({
      'parse-numbers': false,
      'parse-positional-numbers': false,
      'camel-case-expansion': false,
      'dot-notation': false,
      'boolean-negation': false,
      'short-option-groups': false,
      'greedy-arrays': false,
      'populate--': true,
    })
    .wrap(Math.min(WIDEST, parser.terminalWidth()))
    .version('version', version.describe, `rancher-wins version ${VERSION}`)
    .alias('version', version.short)
    .help('help', help.describe)
    .updateStrings({ 'Positionals:': 'Arguments:' })
    .alias('help', help.short)
    .strict()
    .exitProcess(false)
    .fail((message: string | null, error: Error | undefined) => {
      throw error ?? new Error(`yargs: ${message ?? 'no message'}`);
    });
  addOptions(parser, more);
  parser.group(Object.keys(GLOBAL_OPTIONS), 'Options of every command:');
  addNode(parser, [root], read, showAnswer, (code) => {
    exitCode = code;
  });
  await parser.parseAsync(wordsOf(read));
  return exitCode;
}

function addNode(
  parser: Argv,
  path: readonly [Group, ...(Group | Command)[]],
  read: ReadWords,
  showAnswer: ShowAnswer,
  done: (exitCode: number) => void,
): void {
  const at = path.at(-1) ?? path[0];
  const isHelp = read.options.has('help');
  addOptions(parser, at.options ?? {});
  if (isHelp) addHelp(parser, path);
  if (!isGroup(at)) return;
  const next = read.path[path.length];
  // Help names all commands; a command that runs needs no other.
  const nodes = isHelp || next === undefined ? at.commands : [next];
  for (const node of nodes) {
    const position = 'positional' in node ? positionalOf(node) : '';
    parser.command(
      [`${node.name}${position}`, ...(node.aliases ?? [])],
      node.summary,
      (below) => {
        addNode(below, [...path, node], read, showAnswer, done);
        const { name, describe } = ('positional' in node && node.positional) || {};
        return name === undefined ? below : below.positional(name, { type: 'string', describe });
      },
      async (values) => {
        if (isGroup(node)) return;
        done(await follow(node, optionsAt([...path, node]), values, showAnswer));
      },
    );
  }
}

function addHelp(parser: Argv, path: readonly [Group, ...(Group | Command)[]]): void {
  const { summary, details, options = {}, examples = [] } = path.at(-1) ?? path[0];
  const description = [summary, details].filter(Boolean).join('\n\n');
  parser.usage(`${usageLine(path)}\n\n${description}`);
  const names = Object.keys(options);
  if (names.length > 0) parser.group(names, 'Options:');
  for (const [words, what] of examples) parser.example(`wins ${words}`, what);
  parser.epilogue(epilogue(path));
}

function positionalOf({ positional }: Command): string {
  if (positional === undefined) return '';
  const { name, isOptional } = positional;
  return isOptional === true ? ` [${name}]` : ` <${name}>`;
}

async function follow(
  command: Command,
  options: Options,
  given: Readonly<Record<string, unknown>>,
  showAnswer: ShowAnswer,
): Promise<number> {
  const values = Object.fromEntries(
    Object.entries(options).map(([name, { kind }]) => [
      name,
      given[name] ?? (kind === 'switch' ? false : kind === 'list' ? [] : undefined),
    ]),
  );
  command.check?.(values);
  const word = command.positional && given[command.positional.name];
  const rest = given['--'] as readonly string[] | undefined;
  const show: Show = (answer) => showAnswer(answer, values['output']);
  return command.run(values, { word: typeof word === 'string' ? word : undefined, rest }, { show });
}

function addOptions(parser: Argv, options: Options): void {
  for (const [name, option] of Object.entries(options)) parser.option(name, describeOption(option));
}

function describeOption(option: Option) {
  const { kind, describe, short, byDefault, choices, wanted, isHidden, read } = option;
  return {
    type: kind === 'switch' ? ('boolean' as const) : ('string' as const),
    requiresArg: kind !== 'switch',
    array: kind === 'list',
    describe,
    ...(short !== undefined && { alias: short }),
    ...(byDefault !== undefined && { default: byDefault }),
    ...(choices !== undefined && { choices }),
    ...(wanted !== undefined && { demandOption: true }),
    ...(isHidden === true && { hidden: true }),
    // What it throws was thrown before. Called with undefined for an option that is not there.
    ...(read !== undefined && {
      coerce: (text: string | undefined) => (text === undefined ? undefined : read(text)),
    }),
  };
}

/** The words again, each in the one form that no one can take for another. */
function wordsOf({ path, options, words, rest }: ReadWords): string[] {
  return [
    ...path.slice(1).map(({ name }) => name),
    ...[...options].flatMap(([name, values]) => values.map((value) => `--${name}=${value}`)),
    ...(options.has('help') ? [] : words),
    ...(rest === undefined ? [] : ['--', ...rest]),
  ];
}
