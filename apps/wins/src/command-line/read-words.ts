import { messageOf, quoteText, UsageError } from '@wins/base';
import { isGroup, type Command, type Group } from './command.js';
import { GLOBAL_OPTIONS, oneOf, type Option, type Options } from './option.js';
import { suggest, suggestCommand } from './suggest.js';

export type WordPath = [Group, ...(Group | Command)[]];

export interface ReadWords {
  readonly path: Readonly<WordPath>;
  /** A switch that is on has the value `true`. When an option that is not a list is repeated, the last value counts. */
  readonly options: ReadonlyMap<string, readonly string[]>;
  readonly words: readonly string[];
  /** Words after `--`; undefined when there are none or the command does not accept them. */
  readonly rest: readonly string[] | undefined;
  /** Values for the handler, keyed by option name; empty for a group, and when help or the version was requested. */
  readonly values: Readonly<Record<string, unknown>>;
}

const YES = /^(?:1|t|true)$/i;
const NO = /^(?:0|f|false)$/i;

/**
 * An option may have one dash or two, as in Go programs. It takes the next word as its value even if that word looks like an option.
 * @param path - Contains only the root at first. Every group or command found in `argv` is appended, even if a later word is invalid.
 * @throws UsageError, with a suggestion where there is one.
 */
export function readWords(path: WordPath, argv: readonly string[]): ReadWords {
  return new WordReader(path, argv).read();
}

export function optionsAt(path: readonly (Group | Command)[]): Options {
  return Object.assign({}, GLOBAL_OPTIONS, ...path.map(({ options }) => options)) as Options;
}

class WordReader {
  readonly #argv: readonly string[];
  readonly #path: WordPath;
  readonly #options = new Map<string, readonly string[]>();
  readonly #words: string[] = [];
  #known: Options;
  #rest: readonly string[] | undefined;
  #next = 0;

  constructor(path: WordPath, argv: readonly string[]) {
    this.#argv = argv;
    this.#path = path;
    this.#known = optionsAt(this.#path);
  }

  read(): ReadWords {
    while (this.#next < this.#argv.length) {
      const word = this.#take() ?? '';
      if (word === '--') this.#takeRest();
      else if (word.length > 1 && word.startsWith('-')) this.#readOption(word);
      else this.#readWord(word);
    }
    const [path, options, words, rest] = [this.#path, this.#options, this.#words, this.#rest];
    const isWhole = !options.has('help') && !options.has('version');
    return { path, options, words, rest, values: isWhole ? this.#requireWhole() : {} };
  }

  get #at(): Group | Command {
    return this.#path.at(-1) ?? this.#path[0];
  }

  #take(): string | undefined {
    return this.#argv[this.#next++];
  }

  #takeRest(): void {
    const rest = this.#argv.slice(this.#next);
    this.#next = this.#argv.length;
    if (!('rest' in this.#at)) for (const word of rest) this.#readWord(word);
    else if (rest.length > 0) this.#rest = rest;
  }

  #readWord(word: string): void {
    const at = this.#at;
    if (isGroup(at)) {
      const found = at.commands.find(
        ({ name, aliases }) => name === word || aliases?.includes(word),
      );
      if (found === undefined) {
        const hint = suggestCommand(word, this.#path[0], at);
        throw new UsageError(`unknown command ${quoteText(word)}${hint}`);
      }
      this.#path.push(found);
      this.#known = optionsAt(this.#path);
    } else {
      const { positional } = at;
      if (positional === undefined || (this.#words.length > 0 && !positional.isList)) {
        const takes = positional === undefined ? 'options only' : `one ${positional.name} only`;
        throw new UsageError(`unexpected argument ${quoteText(word)}: this command takes ${takes}`);
      }
      this.#words.push(word);
    }
  }

  #readOption(word: string): void {
    const [, dashes = '', name = '', equals] = /^(--?)([^=]*)(=[^]*)?$/.exec(word) ?? [];
    const value = equals?.slice(1);
    const long = this.#find(name);
    if (long !== undefined && name.length > 1) {
      this.#give(name, long, value);
      return;
    }
    if (dashes === '-') {
      const found = Object.entries(this.#known).find(([, { short }]) => short === name.charAt(0));
      const isAlone = name.length === 1;
      // For example `-ojson`.
      if (found !== undefined && (isAlone || found[1].kind === 'text')) {
        this.#give(...found, isAlone ? value : word.slice(2));
        return;
      }
    }
    if (name === 'json' && this.#find('output')?.choices?.includes('json') === true) {
      this.#giveJson(value);
      return;
    }
    if (word === '-q' && this.#find('output')?.choices?.includes('name') === true) {
      this.#options.set('output', ['name']);
      return;
    }
    const known = Object.entries(this.#known).flatMap(([known, { isHidden }]) =>
      isHidden === true ? [] : [`--${known}`],
    );
    // As docker calls it.
    const isTemplate =
      name === 'format' && this.#find('output')?.choices?.includes('wide') === true;
    const hint = isTemplate ? '; use -o jsonpath=TEMPLATE' : suggest(`--${name}`, known);
    throw new UsageError(`unknown option ${quoteText(word)}${hint}`);
  }

  #find(name: string): Option | undefined {
    return Object.hasOwn(this.#known, name) ? this.#known[name] : undefined;
  }

  #give(name: string, option: Option, value = option.kind === 'switch' ? 'true' : this.#take()) {
    if (value === undefined) {
      const { placeholder = 'TEXT' } = option;
      throw new UsageError(`option --${name} needs a value: --${name} ${placeholder}`);
    }
    if (option.kind === 'list')
      this.#options.set(name, [...(this.#options.get(name) ?? []), value]);
    else if (option.kind === 'text') this.#options.set(name, [value]);
    else if (this.#isOn(name, value)) this.#options.set(name, ['true']);
    else this.#options.delete(name);
  }

  /** Translates `--json`, the earlier form of `--output=json`. */
  #giveJson(value = 'true'): void {
    if (this.#isOn('json', value)) this.#options.set('output', ['json']);
  }

  #isOn(name: string, value: string): boolean {
    if (YES.test(value)) return true;
    if (NO.test(value)) return false;
    throw new UsageError(`--${name}: found ${quoteText(value)}; wanted true or false`);
  }

  #requireWhole(): Record<string, unknown> {
    const at = this.#at;
    if (isGroup(at)) {
      if (this.#path.length === 1) return {};
      const names = at.commands.flatMap(({ name, isHidden }) => (isHidden === true ? [] : [name]));
      throw new UsageError(`a command is missing: ${oneOf(names)}`);
    }
    const values: [string, unknown][] = Object.entries(this.#known).map(([name, option]) => [
      name,
      this.#valueOf(name, option),
    ]);
    const { positional } = at;
    if (positional !== undefined && positional.isOptional !== true && this.#words.length === 0)
      throw new UsageError(
        `${positional.name.toUpperCase()} is missing; wanted ${positional.describe}`,
      );
    if (positional?.isList === true) values.push([`${positional.name}s`, this.#words]);
    else if (positional !== undefined) values.push([positional.name, this.#words[0]]);
    values.push(['rest', this.#rest]);
    return Object.fromEntries(values) as Record<string, unknown>;
  }

  #valueOf(name: string, { kind, wanted, byDefault, read }: Option): unknown {
    const given = this.#options.get(name);
    if (kind === 'switch') return given !== undefined;
    if (given === undefined && wanted !== undefined)
      throw new UsageError(`option --${name} is missing; wanted ${wanted}`);
    const texts = given ?? (byDefault === undefined ? [] : [byDefault]);
    const values = texts.map((text) => {
      try {
        return read === undefined ? text : read(text);
      } catch (cause) {
        throw new UsageError(`--${name}: ${messageOf(cause)}`, { cause });
      }
    });
    return kind === 'list' ? values : values[0];
  }
}
