import { VERSION } from '@wins/base';
import yargs, { type Argv } from 'yargs';
import { isGroup, type Command, type Group } from './command.js';
import { epilogue, usageLine } from './help-text.js';
import { GLOBAL_OPTIONS, type Option, type Options } from './option.js';

const WIDEST = 100;

/** Uses yargs only to lay out help text: yargs gets the names of the command, never the user's arguments. */
export async function printHelp(path: readonly [Group, ...(Group | Command)[]]): Promise<void> {
  const [root, ...below] = path;
  const { help, version, ...more } = GLOBAL_OPTIONS;
  const parser = yargs();
  parser
    // Locale detection would let an environment variable choose a file for yargs to read.
    .detectLocale(false)
    .scriptName('wins')
    .parserConfiguration({ 'camel-case-expansion': false, 'dot-notation': false })
    .wrap(Math.min(WIDEST, parser.terminalWidth()))
    .version('version', version.describe, `rancher-wins version ${VERSION}`)
    .alias('version', version.short)
    .help('help', help.describe)
    .updateStrings({ 'Positionals:': 'Arguments:' })
    .alias('help', help.short)
    .exitProcess(false)
    .fail(false);
  addOptions(parser, more);
  parser.group(Object.keys(GLOBAL_OPTIONS), 'Options of every command:');
  addNode(parser, [root]);
  await parser.parseAsync([...below.map(({ name }) => name), '--help']);
}

function addNode(parser: Argv, path: readonly [Group, ...(Group | Command)[]]): void {
  const at = path.at(-1) ?? path[0];
  addOptions(parser, at.options ?? {});
  addTexts(parser, path);
  if (!isGroup(at)) return;
  for (const node of at.commands) {
    const position = 'positional' in node ? positionalOf(node) : '';
    // yargs hides a command whose description is `false`, but its types do not allow this for a command with aliases.
    const summary = (node.isHidden === true ? false : node.summary) as string;
    parser.command([`${node.name}${position}`, ...(node.aliases ?? [])], summary, (below) => {
      addNode(below, [...path, node]);
      const { name, describe } = ('positional' in node && node.positional) || {};
      return name === undefined ? below : below.positional(name, { type: 'string', describe });
    });
  }
}

function addTexts(parser: Argv, path: readonly [Group, ...(Group | Command)[]]): void {
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
  const { name, isOptional, isList } = positional;
  const several = isList === true ? '..' : '';
  return isOptional === true ? ` [${name}${several}]` : ` <${name}${several}>`;
}

function addOptions(parser: Argv, options: Options): void {
  for (const [name, option] of Object.entries(options)) parser.option(name, describeOption(option));
}

function describeOption(option: Option) {
  const { kind, describe, short, byDefault, choices, wanted, isHidden } = option;
  return {
    type: kind === 'switch' ? ('boolean' as const) : ('string' as const),
    array: kind === 'list',
    describe,
    ...(short !== undefined && { alias: short }),
    ...(byDefault !== undefined && { default: byDefault }),
    ...(choices !== undefined && { choices }),
    ...(wanted !== undefined && { demandOption: true }),
    ...(isHidden === true && { hidden: true }),
  };
}
