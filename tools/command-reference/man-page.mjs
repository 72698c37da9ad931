import { optionMeaning, optionWords } from './markdown-page.mjs';

/** Text that roff takes for nothing but text. */
function plain(text) {
  const escaped = text.replaceAll('\\', '\\e').replaceAll('-', '\\-').replaceAll('…', '...');
  return escaped.replaceAll(/^([.'])/gm, '\\&$1');
}

const bold = (text) => `\\fB${plain(text)}\\fR`;
const item = (head, text) => ['.TP', bold(head), plain(text)];

/** A manual page of section 1. */
export function manPage(command, { common, version }) {
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
