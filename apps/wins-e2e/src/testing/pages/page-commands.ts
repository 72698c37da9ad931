import type { NamedCommand } from '../named-commands.js';
import { blocksOf, pageText, PAGES } from './page.js';

/** Yields lines of shell blocks and pieces of inline code, including those that do not run `wins`. */
function* commandLines(text: string): Iterable<string> {
  const prose = text.replace(/^( *)```[^]*?^\1```$/gm, '');
  for (const [, code = ''] of prose.matchAll(/`([^`\n]+)`/g)) yield code;
  for (const block of blocksOf(text))
    if (['sh', 'powershell', ''].includes(block.language))
      yield* block.text.replaceAll('\\\n', ' ').split('\n');
}

/** Returns a message for each unknown command or option in the pages. */
export function unknownCommands(commands: readonly NamedCommand[]): string[] {
  const known = new Map(commands.map((command) => [command.name, command]));
  const below = ({ name }: NamedCommand, word: string): NamedCommand | undefined =>
    known.get(`${name} ${word}`.trim()) ??
    commands.find(
      (one) => one.aliases.includes(word) && one.name.replace(/ ?[a-z-]+$/, '') === name,
    );
  const problems: string[] = [];
  for (const page of PAGES)
    for (const line of commandLines(pageText(page))) {
      const [, typed] = /^\s*(?:\.\\|C:\\\S*\\)?wins(?:-upgrade)?(?:\.exe)? (.*)$/.exec(line) ?? [];
      if (typed === undefined) continue;
      const [told = ''] = typed.split(/ -- | [|&;>#]| 2>|─| {3}/);
      const words = told
        .replace(/^help( |$)/, '')
        .replace(/"[^"]*"|'[^']*'/g, 'X')
        .split(/[\s[\]]+/);
      let command = known.get('');
      for (const word of words) {
        const next = command === undefined ? undefined : below(command, word);
        if (next === undefined) {
          if ((command?.below.length ?? 0) > 0 && /^[a-z]/.test(word))
            problems.push(`${page}: ${line.trim()}: found no command ${word}`);
          break;
        }
        command = next;
      }
      for (const word of words) {
        const [, option] = /^(--[a-z][a-z0-9-]*)/.exec(word) ?? [];
        if (option !== undefined && command?.help.includes(option) === false)
          problems.push(`${page}: ${line.trim()}: found no option ${option}`);
      }
    }
  return problems;
}
