import { isGroup, type Command, type Group } from '../command.js';
import type { Completed, OfferedWord, Option } from '../option.js';
import { optionsAt } from '../read-words.js';

/** Request of our completion scripts: `--get-completions=COUNT wins WORD…`. The last word is the one being typed. */
const REQUEST = /^--get-completions(?:=(\d{1,3}))?$/;
/** Request of the completion scripts of earlier releases, which send only the words. */
const EARLIER_REQUEST = '--get-yargs-completions';
/** Time limit for loading words, for example from the daemon, in milliseconds. It is short, because a person has pressed Tab and waits. */
const ANSWER_LIMIT_MS = 1000;

export interface Completions {
  readonly kind: 'words' | 'files' | 'folders';
  readonly words: readonly OfferedWord[];
}

const NOTHING: Completions = { kind: 'words', words: [] };

/** Prints a line `:words`, `:files` or `:folders`, then each word, a tab and its description. @returns False if `argv` is no completion request. */
export async function completeWords(root: Group, argv: readonly string[]) {
  const [request = '', _program, ...typed] = argv;
  const [asked, count] = REQUEST.exec(request) ?? [];
  if (asked === undefined && request !== EARLIER_REQUEST) return false;
  // Add the empty last word that Windows PowerShell drops.
  const whole = count !== undefined && typed.length + 1 < Number(count) ? [...typed, ''] : typed;
  const words = whole.length > 1 && whole[0] === 'help' ? whole.slice(1) : whole;
  const { kind, words: found } = await completionsOf(root, words);
  const lines =
    asked === undefined
      ? found.map(([word]) => word)
      : [`:${kind}`, ...found.map(([word, what]) => `${word}\t${what}`)];
  // Exit at once, so that a daemon that does not answer cannot block the shell.
  process.stdout.write(lines.map((line) => `${line}\n`).join(''), () => process.exit(0));
  return true;
}

export async function completionsOf(root: Group, words: readonly string[]) {
  const path: [Group, ...(Group | Command)[]] = [root];
  const given = new Map<string, string | undefined>();
  let awaited: readonly [string, Option] | undefined;
  const positionals: string[] = [];
  for (const word of words.slice(0, -1)) {
    const at = path.at(-1) ?? root;
    // bash splits --config=file into three words.
    if (awaited !== undefined && word === '=') continue;
    if (awaited !== undefined) {
      given.set(awaited[0], word);
      awaited = undefined;
    } else if (word === '--') return NOTHING;
    else if (word.startsWith('-')) {
      const [option, value] = optionOf(path, word);
      if (option === undefined) continue;
      given.set(option[0], value);
      if (option[1].kind !== 'switch' && value === undefined) awaited = option;
    } else if (isGroup(at)) {
      const found = at.commands.find(
        ({ name, aliases }) => name === word || aliases?.includes(word),
      );
      if (found === undefined) return NOTHING;
      path.push(found);
    } else positionals.push(word);
  }
  const last = words.at(-1) ?? '';
  if (awaited !== undefined) return valuesOf(awaited[1], given);
  const [option, value] = optionOf(path, last);
  if (option !== undefined && value !== undefined) return valuesOf(option[1], given);
  const at = path.at(-1) ?? root;
  if (last.startsWith('-')) return optionsLeft(path, given);
  if (isGroup(at)) {
    const commands = at.commands.flatMap(({ name, summary, isHidden }) =>
      isHidden === true ? [] : [[name, summary] as const],
    );
    const help = [['help', 'Print the help of a command']] as const;
    return { kind: 'words', words: path.length > 1 ? commands : [...commands, ...help] };
  }
  if (at.positional !== undefined && (positionals.length === 0 || at.positional.isList))
    return valuesOf({ ...at.positional }, given);
  return optionsLeft(path, given);
}

function optionOf(
  path: readonly (Group | Command)[],
  word: string,
): [readonly [string, Option] | undefined, string | undefined] {
  const [, name = '', equals] = /^--?([A-Za-z][^=]*)(=[^]*)?$/.exec(word) ?? [];
  const found = Object.entries(optionsAt(path)).find(
    ([long, { short }]) => long === name || short === name,
  );
  return [found, equals?.slice(1)];
}

function optionsLeft(path: readonly (Group | Command)[], given: ReadonlyMap<string, unknown>) {
  const words = Object.entries(optionsAt(path)).flatMap(([name, { isHidden, describe }]) =>
    isHidden === true || given.has(name) ? [] : [[`--${name}`, describe] as const],
  );
  return { kind: 'words', words };
}

/** Offers nothing after a time-out or an error, because tab completion cannot show an error message. */
async function valuesOf(
  { choices, completes }: { choices?: readonly string[]; completes?: Completed },
  given: ReadonlyMap<string, string | undefined>,
): Promise<Completions> {
  if (choices !== undefined) return { kind: 'words', words: choices.map((word) => [word, '']) };
  if (completes === undefined) return NOTHING;
  if (typeof completes === 'string') return { kind: completes, words: [] };
  try {
    return {
      kind: 'words',
      words: await completes(given, AbortSignal.timeout(ANSWER_LIMIT_MS)),
    };
  } catch {
    return NOTHING;
  }
}
