// Writes docs/commands.md, the schema of the commands' JSON and the man pages from the tree of commands.

/** Returns the page of all commands, and the file name and text of each manual page. */
export function commandPages({ root, GLOBAL_OPTIONS, usageLine }, version) {
  const common = Object.entries(GLOBAL_OPTIONS);
  const commands = commandsOf(root).map(({ nodes, ...command }) => ({
    ...command,
    usage: usageLine(nodes),
    visible: Object.entries(command.options).filter(([, { isHidden }]) => isHidden !== true),
    otherNames: nodes.flatMap(({ name, aliases = [] }) => aliases.map((alias) => [name, alias])),
  }));
  return {
    markdown: markdownPage({ root, commands, common }),
    manuals: commands.map((command) => [
      `${command.words.join('-')}.1`,
      manPage(command, { common, version }),
    ]),
  };
}

/**
 * Returns the JSON Schema of the output of each visible command that has `--output`.
 *
 * @throws Error when a command has no schema.
 */
export function outputSchema({ root, commandJsonSchema }) {
  const { $schema, properties, $defs } = commandJsonSchema();
  const commands = commandsOf(root).filter(({ options }) => options.output !== undefined);
  const described = commands.map(({ words, summary }) => {
    const name = words.slice(1).join(' ');
    const schema = properties[name];
    if (schema === undefined) throw new Error(`the JSON of wins ${name} has no schema`);
    const description = [summary, ...(schema.description ? [schema.description] : [])].join('. ');
    return [name, { title: `wins ${name}`, ...schema, description }];
  });
  const title = 'What each command of wins prints with -o json';
  const object = { type: 'object', properties: Object.fromEntries(described), $defs };
  return `${JSON.stringify({ $schema, title, ...object }, null, 2)}\n`;
}

/** Returns every leaf command, with its path and all its options. */
function commandsOf(node, above = [], inherited = {}) {
  const nodes = [...above, node];
  const options = { ...inherited, ...node.options };
  if (node.commands === undefined)
    return [{ ...node, nodes, words: nodes.map(({ name }) => name), options }];
  return node.commands
    .filter(({ isHidden }) => isHidden !== true)
    .flatMap((below) => commandsOf(below, nodes, options));
}

const cell = (text) => text.replaceAll('|', '\\|').replaceAll('<', '\\<').replaceAll('\n', ' ');

function optionWords(name, { kind, short, placeholder = 'TEXT' }) {
  const value = kind === 'switch' ? '' : ` ${placeholder}`;
  return `${short === undefined ? '' : `-${short}, `}--${name}${value}`;
}

function optionMeaning({ describe, choices, byDefault, wanted }) {
  const notes = [
    ...(wanted === undefined ? [] : ['required']),
    ...(choices === undefined ? [] : [`one of ${choices.join(', ')}`]),
    ...(byDefault === undefined ? [] : [`default: ${byDefault}`]),
  ];
  if (notes.length === 0) return describe;
  const [, before = describe, given = ''] = /^(.*) \((default: .*)\)$/.exec(describe) ?? [];
  return `${before} (${[...notes, ...(given === '' ? [] : [given])].join('; ')})`;
}

function table(heads, rows) {
  if (rows.length === 0) return [];
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line), ''];
}

const optionsTable = (options) =>
  table(
    ['option', 'what it does'],
    options.map(([name, option]) => [
      `\`${optionWords(name, option)}\``,
      cell(optionMeaning(option)),
    ]),
  );

function markdownPage({ root, commands, common }) {
  const lines = [
    '# Every command',
    '',
    'Written by `npm run generate` from the tree of commands in `apps/wins/src/commands`. `wins help COMMAND` says the same.',
    '',
    `${root.details} An invalid command line ends with exit code 64, or 125 for ` +
      '`wins cli prc run` ([errors.md](errors.md)).',
    'The keys of JSON and YAML are in camelCase. Four commands are the exception, because their ' +
      'JSON is that of the Go client: `cli app info`, `cli hst get-version`, `cli net get` and ' +
      '`cli hns get-network`. [command-output.schema.json](command-output.schema.json) has the JSON Schema of each command.',
    '',
    ...table(
      ['command', 'what it does'],
      commands.map(({ words, summary }) => {
        const name = words.join(' ');
        return [`[\`${name}\`](#${name.replaceAll(' ', '-')})`, cell(summary)];
      }),
    ),
    '## Options of every command',
    '',
    ...optionsTable(common),
  ];
  for (const command of commands) {
    const { words, summary, details, usage, visible, otherNames, environment = [] } = command;
    lines.push(`## ${words.join(' ')}`, '', `${summary}.`, '');
    if (details !== undefined)
      lines.push(details.replace(/\n((?: {2}.*(?:\n|$))+)/, '\n\n```\n$1\n```\n'), '');
    lines.push('```', usage, '```', '');
    if (otherNames.length > 0) {
      const names = otherNames.map(([name, other]) => `\`${other}\` for \`${name}\``);
      lines.push(`Aliases: ${names.join(', ')}.`, '');
    }
    lines.push(...optionsTable(visible));
    lines.push(
      ...table(
        ['variable', 'what it is'],
        environment.map(([name, what]) => [`\`${name}\``, cell(what)]),
      ),
    );
    const examples = command.examples ?? [];
    if (examples.length > 0) {
      lines.push(
        '```sh',
        ...examples.flatMap(([typed, what]) => [`# ${what}`, `wins ${typed}`]),
        '```',
        '',
      );
    }
    lines.push(`Read more: [${command.page}](${command.page})`, '');
  }
  return lines.join('\n');
}

function plain(text) {
  const escaped = text.replaceAll('\\', '\\e').replaceAll('-', '\\-').replaceAll('…', '...');
  return escaped.replaceAll(/^([.'])/gm, '\\&$1');
}

const bold = (text) => `\\fB${plain(text)}\\fR`;
const item = (head, text) => ['.TP', bold(head), plain(text)];

function manPage(command, { common, version }) {
  const { words, summary, details, usage, visible, environment = [], examples = [] } = command;
  const title = words.join('-');
  const lines = [
    `.TH ${plain(title.toUpperCase())} 1 "" "wins ${version}" "wins"`,
    '.SH NAME',
    `${plain(title)} \\- ${plain(summary)}`,
    '.SH SYNOPSIS',
    bold(usage),
    '.SH DESCRIPTION',
    plain(`${summary}.`),
  ];
  if (details !== undefined) lines.push('.PP', '.nf', plain(details), '.fi');
  lines.push('.SH OPTIONS');
  for (const [name, option] of [...visible, ...common])
    lines.push(...item(optionWords(name, option), optionMeaning(option)));
  if (environment.length > 0) {
    lines.push('.SH ENVIRONMENT');
    for (const [name, what] of environment) lines.push(...item(name, what));
  }
  if (examples.length > 0) {
    lines.push('.SH EXAMPLES');
    for (const [typed, what] of examples) lines.push(...item(`wins ${typed}`, what));
  }
  lines.push('.SH SEE ALSO', plain(`docs/${command.page} of the release`), '');
  return lines.join('\n');
}
