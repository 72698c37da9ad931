import path from 'node:path';
import { splitCommandLine } from '../service/service-command.js';
import { UpgradeError } from '../upgrade-error.js';

const RUN = ['srv', 'app', 'run'] as const;
/** Options of `srv app run` that take no value. */
const SWITCHES = new Set(['debug', 'quiet', 'delayed-start']);
const REGISTRATION = new Set(['register', 'unregister']);
type Option = readonly [name: string, value: string | undefined];

/** A pair of quotes around the text, as long as the text contains no other such quote. */
const IN_QUOTES = /^\s*(["'])((?:(?!\1)[^])*)\1\s*$/;
/** A word or a value in single quotes, which PowerShell and shells remove. */
const IN_SINGLE_QUOTES = /(^|[\s=])'([^'"]*)'(?=\s|$)/g;

const UNPAIRED_QUOTE = /^'[^']*$|^[^']*'$/;

/** Removes one pair of quotes, because a Go client keeps the quotes around the values in its option `--args`. */
export function withoutQuotes(text: string): string {
  return IN_QUOTES.exec(text)?.[2] ?? text;
}

/**
 * A given option replaces the existing ones of the same name. `-config x`, `--config x` and `--config=x` are the same.
 * @throws UpgradeError `refused` for `--register`, `--unregister`, or a given argument that is not an option.
 */
export function mergeServiceArgs(
  existing: readonly string[] | undefined,
  given: string | undefined,
): string[] {
  // Existing arguments are kept without validation.
  if (given === undefined && existing !== undefined) return [...existing];
  const added = parseGiven(given ?? '');
  for (const [name] of added)
    if (REGISTRATION.has(name))
      throw refusal(`omit --${name}: an upgrade registers the service itself`);
  const names = new Set(added.map(([name]) => name));
  const kept = isRun(existing) ? parseOptions(existing).filter(([name]) => !names.has(name)) : [];
  const words = ([name, value]: Option) => {
    if (value === undefined) return [`--${name}`];
    // Apart from its switch, a value would be an argument.
    return SWITCHES.has(name) ? [`--${name}=${value}`] : [`--${name}`, value];
  };
  return [...RUN, ...[...kept, ...added].flatMap(words)];
}

/** The last occurrence of a repeated option counts. */
export function configFileOf<T extends string | undefined>(
  args: readonly string[],
  defaultConfig: T,
): string | T {
  const options = isRun(args) ? parseOptions(args) : [];
  return options.findLast(([name]) => name === 'config')?.[1] ?? defaultConfig;
}

export function refuseConfig(
  args: readonly string[],
  expected: string | undefined,
  defaultConfig: string,
  platform: NodeJS.Platform,
): string | undefined {
  if (expected === undefined) return undefined;
  const found = configFileOf(args, defaultConfig);
  const isSame =
    platform === 'win32'
      ? path.win32.normalize(found).toLowerCase() === path.win32.normalize(expected).toLowerCase()
      : path.posix.normalize(found) === path.posix.normalize(expected);
  if (isSame) return undefined;
  return `the service reads the config ${found}; wanted ${expected}. Deliver the config to ${found}, or on the host register the other one: wins-upgrade up --wins-args '--config "${expected}"'`;
}

/** Accepts the short and long names of the commands, in separate arguments or in one. */
export function runsDaemon(args: readonly string[]): boolean {
  const words = args.filter((word) => !word.startsWith('-'));
  return /^(srv|server) (app|application) run( |$)/.test(words.join(' '));
}

function isRun(args: readonly string[] | undefined): args is readonly string[] {
  const words = args?.filter((word) => !word.startsWith('-')) ?? [];
  return words[0] === 'srv' || words[0] === 'server';
}

/**
 * Ignores a pair of quotes around all the options, unless they only make sense as one quoted word, such as `"--config=c:\my dir\config"`.
 * Accepts single quotes around a value.
 */
function parseGiven(text: string): Option[] {
  const parse = (line: string): Option[] => {
    const words = splitCommandLine(line.replace(IN_SINGLE_QUOTES, inDoubleQuotes));
    const options = parseOptions(words);
    const odd = options.find(([, value]) => value !== undefined && UNPAIRED_QUOTE.test(value));
    if (odd !== undefined) throw refusal(`found --${odd[0]} with a single quote at one end only`);
    return options;
  };
  const bare = withoutQuotes(text);
  if (bare === text) return parse(text);
  try {
    return parse(bare);
  } catch (error) {
    try {
      return parse(text);
    } catch {
      throw error;
    }
  }
}

function inDoubleQuotes(_all: string, before: string, value: string): string {
  return `${before}"${value.replace(/\\+$/, '$&$&')}"`;
}

function parseOptions(args: readonly string[]): Option[] {
  const options: Option[] = [];
  const commands = new Set<string>([...RUN, 'server', 'application']);
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] ?? '';
    const [, name, value] = /^--?([A-Za-z][A-Za-z-]*)(?:=(.*))?$/s.exec(word) ?? [];
    if (name === undefined) {
      if (options.length === 0 && commands.has(word)) continue;
      throw refusal(`found "${word}"; wanted options of srv app run, such as --config FILE`);
    }
    const isSwitch = SWITCHES.has(name) || REGISTRATION.has(name);
    if (value !== undefined || isSwitch) options.push([name, value]);
    else {
      const next = args[at + 1];
      if (next === undefined) throw refusal(`found --${name} without its value`);
      options.push([name, next]);
      at += 1;
    }
  }
  return options;
}

function refusal(found: string): UpgradeError {
  return new UpgradeError('refused', `cannot use the arguments of the service: ${found}`);
}
