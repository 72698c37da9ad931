// Writes docs/commands.md, the schema of the commands' JSON and the man pages from the tree of commands. It is longer than most files, because the three
// say the same of each command.

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
    manuals: [
      [`${root.name}.1`, topManPage(root, commands, { common, version })],
      ...commands.map((command) => [
        `${command.words.join('-')}.1`,
        manPage(command, { common, version }),
      ]),
    ],
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

function optionWords(name, { kind, short, placeholder = 'TEXT' }) {
  const value = kind === 'switch' ? '' : ` ${placeholder}`;
  return `${short === undefined ? '' : `-${short}, `}--${name}${value}`;
}

/** Splits the description of an option into its meaning and its default, which may be part of the text. */
function partsOf({ describe, byDefault }) {
  const [, meaning = describe, inText] = /^(.*) \(default: (.*)\)$/.exec(describe) ?? [];
  return { meaning, byDefault: byDefault ?? inText };
}

function optionMeaning(option) {
  const { meaning, byDefault } = partsOf(option);
  const notes = [
    ...(option.wanted === undefined ? [] : ['required']),
    ...(option.choices === undefined ? [] : [`one of ${option.choices.join(', ')}`]),
    ...(byDefault === undefined ? [] : [`default: ${byDefault}`]),
  ];
  return notes.length === 0 ? meaning : `${meaning} (${notes.join('; ')})`;
}

const inText = (text) => text.replaceAll('<', '\\<').replaceAll('\n', ' ');
const optionItem = ([name, option]) =>
  `- \`${optionWords(name, option)}\`: ${inText(optionMeaning(option))}`;
const variableItem = ([name, what]) => `- \`${name}\`: ${inText(what)}`;

/** Name of the page itself, to which no command needs a link. */
const PAGE = 'commands.md';

/** Options, variables and sentences that at least this number of commands have are written once. */
const SHARED_BY = 3;

const sentencesOf = (text = '') => (text === '' ? [] : text.split(/(?<=\.) (?=[A-Z])/));

/** Returns the sentences of details that several commands have, with the names of these commands. */
function sharedSentences(commands) {
  const commandsBySentence = new Map();
  for (const { words, details } of commands)
    for (const sentence of new Set(sentencesOf(details)))
      commandsBySentence.set(sentence, [
        ...(commandsBySentence.get(sentence) ?? []),
        `\`${words.join(' ')}\``,
      ]);
  return new Map([...commandsBySentence].filter(([, { length }]) => length >= SHARED_BY));
}

/** Returns the options and variables that several commands share, by what distinguishes them from others of their name. */
function sharedBy(commands) {
  const options = new Map();
  const variables = new Map();
  for (const { visible, environment = [] } of commands) {
    for (const [name, option] of visible) {
      const key = keyOf(name, option);
      options.set(key, [...(options.get(key) ?? []), [name, option]]);
    }
    for (const variable of environment)
      variables.set(variable.join(), [...(variables.get(variable.join()) ?? []), variable]);
  }
  const isShared = ([, uses]) => uses.length >= SHARED_BY;
  return {
    options: new Map(
      [...options]
        .filter(isShared)
        .sort(([, a], [, b]) => b.length - a.length)
        .map(([key, uses]) => [key, mostCommon(uses)]),
    ),
    variables: new Map([...variables].filter(isShared).map(([key, [variable]]) => [key, variable])),
  };
}

function keyOf(name, option) {
  const { meaning } = partsOf(option);
  return [optionWords(name, option), meaning, option.wanted ?? ''].join('\n');
}

function mostCommon(uses) {
  const count = ([, option]) =>
    uses.filter(([, other]) => optionMeaning(other) === optionMeaning(option)).length;
  return uses.reduce((best, use) => (count(use) > count(best) ? use : best));
}

/** Names a shared option, with what differs from its description. */
function sharedName([name, option], [, common]) {
  const { byDefault } = partsOf(option);
  const missing = (common.choices ?? []).filter((choice) => !option.choices.includes(choice));
  const notes = [
    ...(missing.length === 0 ? [] : [`not ${missing.join(', ')}`]),
    ...(byDefault === partsOf(common).byDefault ? [] : [`default: ${byDefault}`]),
  ];
  return `\`--${name}\`${notes.length === 0 ? '' : ` (${inText(notes.join('; '))})`}`;
}

/** Words for what many commands write alike after `[shared](#shared-options)`, and what they stand for. */
const BUNDLES = [
  [
    '*connection*',
    '`--server` (default: rancher_wins), `--wait-timeout`, `--timeout`, `WINS_RUNTIME_DIR`',
  ],
  ['*list*', '`--output` (not text; default: table on a terminal, json elsewhere)'],
];

const bundled = (text) =>
  BUNDLES.reduce((shorter, [word, long]) => shorter.replace(long, word), text);

function markdownPage({ root, commands, common }) {
  const shared = sharedBy(commands);
  const sentences = sharedSentences(commands);
  const names = [...new Set(commands.flatMap(({ otherNames }) => otherNames.map(String)))]
    .map((pair) => pair.split(','))
    .map(([name, other]) => `\`${other}\` for \`${name}\``);
  const lines = [
    '# Every command',
    '',
    'Written by `npm run generate` from the tree of commands in `apps/wins/src/commands`. `wins help COMMAND` says the same.',
    '',
    `${root.details} An invalid command line ends with exit code 64, or 125 for ` +
      '`wins cli prc run` ([errors.md](errors.md)).',
    `The names of Go releases still work: ${names.join(', ')}.`,
    'The keys of JSON and YAML are in camelCase. Four commands are the exception, because their ' +
      'JSON is that of the Go client: `cli app info`, `cli hst get-version`, `cli net get` and ' +
      '`cli hns get-network`. [command-output.schema.json](command-output.schema.json) has the JSON Schema of each command.',
    '',
    "`-o jsonpath=TEMPLATE` fills in the braces of the template, as kubectl does: `{.key}`, `{['key']}`, `{[0]}`, `{[-1]}`, `{[*]}` and " +
      '`{"text"}`. `-o wide` shows the columns that a table leaves out on a terminal, or in `COLUMNS`, that is too narrow.',
    '',
    '`docs/man` has this page as manual pages: `install -Dm644 -t /usr/local/share/man/man1 docs/man/*.1` installs them, and then `man wins` ' +
      'and `man wins-cli-prc-run` show them.',
    '',
    ...indexOf(commands),
    '',
    '## Options of every command',
    '',
    ...common.map(optionItem),
    '',
    '## Shared options',
    '',
    'A command names those that it has, with its default if that differs.',
    '',
    ...[...shared.options.values()].map(optionItem),
    ...[...shared.variables.values()].map(
      ([name, what]) => `- the variable \`${name}\`: ${inText(what)}`,
    ),
    '',
    'Two words stand for what many commands have:',
    '',
    ...BUNDLES.map(([word, long]) => `- ${word}: ${long}`),
    '',
    ...[...sentences].flatMap(([sentence, names]) => [`${names.join(', ')}: ${sentence}`, '']),
  ];
  for (const {
    words,
    summary,
    details,
    usage,
    visible,
    environment = [],
    ...command
  } of commands) {
    const more = command.page === PAGE ? '' : ` [More](${command.page}).`;
    lines.push(`## ${words.join(' ')}`, '', `${summary}.${more}`);
    const own = sentencesOf(details).filter((sentence) => !sentences.has(sentence));
    if (own.length > 0)
      lines.push(own.join(' ').replace(/\n((?: {2}.*(?:\n|$))+)/, '\n\n```\n$1\n```\n'));
    const isPlain = [words.join(' '), `${words.join(' ')} [options]`].includes(usage);
    lines.push('', ...(isPlain ? [] : [`\`${usage}\``, '']));
    const ofShared = [
      ...visible
        .filter(([name, option]) => shared.options.has(keyOf(name, option)))
        .map((one) => sharedName(one, shared.options.get(keyOf(...one)))),
      ...environment
        .filter((variable) => shared.variables.has(variable.join()))
        .map(([name]) => `\`${name}\``),
    ];
    const items = [
      ...visible
        .filter(([name, option]) => !shared.options.has(keyOf(name, option)))
        .map(optionItem),
      ...environment.filter((variable) => !shared.variables.has(variable.join())).map(variableItem),
    ];
    if (ofShared.length > 0)
      items.push(`- [shared](#shared-options): ${bundled(ofShared.join(', '))}`);
    if (items.length > 0) lines.push(...items, '');
    // The bare command, which the heading names, is no example.
    const examples = (command.examples ?? []).filter(
      ([typed], _, { length }) => length > 1 || `wins ${typed}` !== words.join(' '),
    );
    if (examples.length > 0) {
      lines.push(
        '```sh',
        ...examples.flatMap(([typed, what]) => [`# ${what}`, `wins ${typed}`]),
        '```',
        '',
      );
    }
  }
  const page = lines.join('\n');
  for (const [word] of BUNDLES)
    if (page.split(word).length < 3)
      throw new Error(`${word} stands for options that no command has; change BUNDLES`);
  return page;
}

/** Returns one line of links for each group of commands. A command that is alone in its group is in the group above. */
function indexOf(commands) {
  const above = ({ words }, levels = 1) => words.slice(0, -levels).join(' ');
  const groups = new Map();
  for (const command of commands) {
    const isAlone = commands.filter((other) => above(other) === above(command)).length === 1;
    const group = above(command, isAlone ? 2 : 1);
    const name = command.words.join(' ');
    const link = `[${name.slice(group.length + 1)}](#${name.replaceAll(' ', '-')})`;
    groups.set(group, [...(groups.get(group) ?? []), link]);
  }
  return [...groups].map(([group, links]) => `- \`${group}\`: ${links.join(', ')}`);
}

function plain(text) {
  const escaped = text.replaceAll('\\', '\\e').replaceAll('-', '\\-').replaceAll('…', '...');
  return escaped.replaceAll(/^([.'])/gm, '\\&$1');
}

const bold = (text) => `\\fB${plain(text)}\\fR`;
const item = (head, text) => ['.TP', bold(head), plain(text)];

/** Returns the manual page that names all others. */
function topManPage({ name, summary, details, examples, page }, commands, { common, version }) {
  return [
    `.TH ${plain(name.toUpperCase())} 1 "" "wins ${version}" "wins"`,
    '.SH NAME',
    `${plain(name)} \\- ${plain(summary.replace(/\.$/, ''))}`,
    '.SH SYNOPSIS',
    bold(`${name} COMMAND [options]`),
    '.SH DESCRIPTION',
    plain(details),
    '.SH COMMANDS',
    ...commands.flatMap(({ words, ...command }) => item(words.join(' '), command.summary)),
    '.SH OPTIONS',
    ...common.flatMap(([option, facts]) => item(optionWords(option, facts), optionMeaning(facts))),
    '.SH EXAMPLES',
    ...examples.flatMap(([typed, what]) => item(`${name} ${typed}`, what)),
    '.SH SEE ALSO',
    plain(
      `the page of each command, such as ${commands[1]?.words.join('-')}(1); docs/${page} of the release`,
    ),
    '',
  ].join('\n');
}

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
