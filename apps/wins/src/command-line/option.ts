import { parseDuration, parseSize, quoteText, UsageError } from '@wins/base';
import { parseSince } from './parse-since.js';

/** A word that a shell offers, and its description. */
export type OfferedWord = readonly [word: string, description: string];

/**
 * Loads the words that a value may have. A failure counts as no words.
 *
 * @param given - Options typed so far, with their values.
 * @param signal - Aborts when the shell waits no longer.
 */
export type LoadWords = (
  given: ReadonlyMap<string, string | undefined>,
  signal: AbortSignal,
) => Promise<readonly OfferedWord[]>;

export type Completed = 'files' | 'folders' | LoadWords;

export interface Option<Value = unknown> {
  readonly kind: 'switch' | 'text' | 'list';
  readonly describe: string;
  /** Default: `TEXT`. */
  readonly placeholder?: string;
  readonly short?: string;
  readonly byDefault?: string;
  readonly choices?: readonly string[];
  /** Describes the value in the error for a missing option. Without `wanted`, the option may be omitted. */
  readonly wanted?: string;
  readonly isHidden?: boolean;
  /** Values that a shell offers. Default: none. */
  readonly completes?: Completed;
  /** @throws Error for an invalid value. Its message follows the name of the option. */
  readonly read?: (text: string) => Value;
}

export type Options = Readonly<Record<string, Option>>;

export type ValuesOf<Given extends Options> = {
  readonly [Name in keyof Given]: Given[Name] extends Option<infer Value> ? Value : never;
};

type More = Partial<
  Pick<Option, 'placeholder' | 'byDefault' | 'isHidden' | 'completes' | 'short' | 'choices'>
>;

const LONGEST_WAIT_MS = 24 * 3_600_000;

export function switchOption(describe: string, more: More = {}): Option<boolean> {
  return { kind: 'switch', describe, ...more };
}

export function textOption(describe: string, more: More = {}): Option<string | undefined> {
  return { kind: 'text', describe, ...more };
}

export function listOption(describe: string, more: More = {}): Option<readonly string[]> {
  return { kind: 'list', describe, ...more };
}

export function requiredOption(describe: string, wanted: string, more: More = {}): Option<string> {
  return { kind: 'text', describe, wanted, ...more };
}

export function readOption<Value>(
  describe: string,
  read: (text: string) => Value,
  more: More = {},
): Option<Value | undefined> {
  return { kind: 'text', describe, read, ...more };
}

export function choiceOption<Choice extends string>(
  choices: readonly Choice[],
  describe: string,
  more: More = {},
): Option<Choice | undefined> {
  return { kind: 'text', describe, choices, read: readChoice(choices), ...more };
}

export function choicesOption<Choice extends string>(
  choices: readonly Choice[],
  describe: string,
  more: More = {},
): Option<readonly Choice[]> {
  const option = { kind: 'list', describe, choices, read: readChoice(choices), ...more };
  // `read` of a list option parses one element, so the types differ.
  return option as unknown as Option<readonly Choice[]>;
}

/** Returns a function that reads the value of an option. `parse` returns undefined for what is not valid. */
export function reader<Value>(wanted: string, parse: (text: string) => Value | undefined) {
  return (text: string): Value => {
    const value = parse(text);
    if (value !== undefined) return value;
    throw new UsageError(`found ${quoteText(text)}; wanted ${wanted}`);
  };
}

function readChoice<Choice extends string>(choices: readonly Choice[]) {
  return reader(oneOf(choices), (text) => choices.find((choice) => choice === text));
}

/** Joins words as `a, b or c`. */
export function oneOf(words: readonly string[]): string {
  const last = words.at(-1) ?? '';
  return words.length > 1 ? `${words.slice(0, -1).join(', ')} or ${last}` : last;
}

/** Defines a duration of at most one day, in milliseconds. */
export function durationOption(byDefault: string, describe: string, minMs = 0): Option<number> {
  const read = (text: string) => parseDuration(text, { minMs, maxMs: LONGEST_WAIT_MS });
  return { kind: 'text', placeholder: 'TIME', byDefault, describe, read };
}

/** Defines a duration of at least 1 ms, in milliseconds. */
export function limitOption(describe: string, maxMs = LONGEST_WAIT_MS): Option<number | undefined> {
  const read = (text: string) => parseDuration(text, { minMs: 1, maxMs });
  return { kind: 'text', placeholder: 'TIME', describe, read };
}

/** Defines a time, which may be given as a duration before now. */
export function timeOption(describe: string): Option<Date | undefined> {
  const wanted = '90s, 2h30m or 7d before now, at most 36500d, or 2026-03-01T12:00Z';
  const read = reader(wanted, (text) => parseSince(text, Date.now()));
  return { kind: 'text', placeholder: 'TIME', describe, read };
}

export function digestOption(describe: string): Option<string | undefined> {
  const read = reader('64 hexadecimal digits', (text) =>
    /^[0-9a-f]{64}$/i.test(text) ? text.toLowerCase() : undefined,
  );
  return { kind: 'text', placeholder: 'DIGEST', describe, read };
}

/** Defines a name of at most `maxLength` letters, digits and dashes. */
export function nameOption(describe: string, maxLength: number): Option<string | undefined> {
  const read = reader(`up to ${maxLength} letters, digits and dashes`, (text) =>
    /^[0-9A-Za-z-]+$/.test(text) && text.length <= maxLength ? text : undefined,
  );
  return { kind: 'text', placeholder: 'NAME', describe, read };
}

const MAX_UINT32 = 2 ** 32 - 1;

/** By default the number fits into 32 bits. Whether it is valid, for example as a port, is checked later. */
export function readWhole(text: string, max = MAX_UINT32): number | undefined {
  return /^\d{1,16}$/.test(text) && Number(text) <= max ? Number(text) : undefined;
}

export function numberOption(describe: string, max = MAX_UINT32): Option<number | undefined> {
  const read = reader(`a number from 0 to ${max}`, (text) => readWhole(text, max));
  return { kind: 'text', placeholder: 'NUMBER', describe, read };
}

export function sizeOption(describe: string): Option<number | undefined> {
  return { kind: 'text', placeholder: 'SIZE', describe, read: (text) => parseSize(text) };
}

/** Accepts at most two decimals, or thousandths as in `500m`. */
export function processorsOption(describe: string): Option<number | undefined> {
  const read = reader('a number of processors, such as 0.5 or 500m', (text) => {
    // Kubernetes counts in thousandths.
    const [, number, inThousandths] = /^(\d{1,4}(?:\.\d{1,2})?|(\d{1,7})m)$/.exec(text) ?? [];
    const count = inThousandths === undefined ? Number(number) : Number(inThousandths) / 1000;
    return count > 0 ? count : undefined;
  });
  return { kind: 'text', placeholder: 'NUMBER', describe, read };
}

export const GLOBAL_OPTIONS = {
  debug: switchOption('Print details of what the command does'),
  quiet: switchOption('Print no progress and no log; with cli and up, no errors'),
  help: { ...switchOption('Print the help of the command'), short: 'h' },
  version: { ...switchOption('Print the version'), short: 'v' },
} as const;
