const cell = (text) => text.replaceAll('|', '\\|').replaceAll('<', '\\<').replaceAll('\n', ' ');

/** An option as it is typed. */
export function optionWords(name, { kind, short, placeholder = 'TEXT' }) {
  const value = kind === 'switch' ? '' : ` ${placeholder}`;
  return `${short === undefined ? '' : `-${short}, `}--${name}${value}`;
}

/** What an option means, with its values and what it is without it. */
export function optionMeaning({ describe, choices, byDefault, wanted }) {
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

/** docs/commands.md: every command on one page. */
export function markdownPage({ root, commands, common }) {
  const lines = [
    '# Every command',
    '',
    'Written by `node tools/command-reference.mjs` from the tree of commands in `apps/wins/src/commands`. `wins help COMMAND` says the same.',
    '',
    `${root.details} An invalid command line ends with 64, that of \`wins cli prc run\` with 125 ([errors.md](errors.md)).`,
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
