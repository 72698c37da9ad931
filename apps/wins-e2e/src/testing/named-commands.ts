import type { Outcome } from './built-program.js';

/** A command, as found in the help of its parent. */
export interface NamedCommand {
  /** Words after `wins`, such as `cli prc run`. */
  readonly name: string;
  readonly aliases: readonly string[];
  /** Names of its subcommands; empty if it has none. */
  readonly below: readonly string[];
  readonly help: string;
}

/** Finds every command through `--help` alone, so that no command is forgotten. */
export async function namedCommands(
  run: (args: readonly string[]) => Promise<Outcome>,
): Promise<NamedCommand[]> {
  const found: NamedCommand[] = [];
  const look = async (words: readonly string[], aliases: readonly string[]): Promise<void> => {
    const { code, stdout, stderr } = await run([...words, '--help']);
    const help = String(stdout);
    if (code !== 0 || stderr !== '' || help === '')
      throw new Error(`${words.join(' ')} --help ended with ${code}: ${stderr}`);
    const lines = /^Commands:\r?\n((?: {2}.*\r?\n)+)/m.exec(help)?.[1]?.split('\n') ?? [];
    const below = lines.flatMap((line) => {
      const [, name, rest = ''] = /^ {2}wins ((?:[a-z-]+ )*[a-z-]+)(.*)/.exec(line) ?? [];
      if (name === undefined) return [];
      const [, names = ''] = /(?:\[aliases|\(alias): ([a-z, -]+)[\])]/.exec(rest) ?? [];
      return [{ words: name.split(' '), aliases: names.split(', ').filter(Boolean) }];
    });
    const name = words.join(' ');
    found.push({ name, aliases, below: below.map((one) => one.words.at(-1) ?? ''), help });
    for (const next of below) await look(next.words, next.aliases);
  };
  await look([], []);
  return found;
}
