import { escapeText, quoteText } from '@wins/base';

/** Default next step for each code. */
const NEXT_STEP: Readonly<Record<ConfigProblemCode, string>> = {
  accessDenied: "run this as an administrator or as the daemon's user",
  controlCharacter: 'remove the character, or write it as an escape',
  damaged: 'find out who changed it, then start the daemon with a valid config, which replaces it',
  doubtful: 'grant only what clients need',
  dropped: 'put it back, or allow its removal: --allow-drop KEY',
  duplicateEntry: 'remove one of them',
  duplicateKey: 'remove one of them',
  insecure: 'make it and the folders above it writable by administrators only',
  legacySpelling: 'write the key as expected',
  missing: 'add the key',
  multipleDocuments: 'remove what follows the line "---"',
  noEffect: 'remove it, or add what it needs',
  noWhiteList: 'list the programs',
  notFound: 'write the file, or name another one',
  notRegularFile: 'put a regular file there',
  notUtf8: 'save the file as UTF-8',
  syntax: 'correct the line; check indentation and quotes',
  tooDeep: 'use fewer levels',
  tooLarge: 'shorten the file',
  tooManyProblems: 'name a config file',
  tooManyValues: 'use fewer values',
  twoSpellings: 'remove one of them',
  unknown: 'look at the cause',
  unknownKey: 'correct or remove the key; "wins srv config explain" lists all',
  unsupported: 'write the value itself',
  wrongType: 'write what is expected; see "wins srv config explain KEY"',
  wrongValue: 'write what is expected; see "wins srv config explain KEY"',
};

/** A problem without its message. Without `nextStep`, `NEXT_STEP` applies. */
export type ProblemFacts = Omit<ConfigProblem, 'message' | 'nextStep'> & {
  readonly nextStep?: string | undefined;
};

/** Renders `file:line:column: key: found …, expected …`, and the problem's own next step, if any. */
export function describeProblem(problem: ProblemFacts): ConfigProblem {
  const { file, line, column = 1, keyPath, found, expected, nextStep } = problem;
  const location = line === undefined ? file : `${file}:${line}:${column}`;
  const key = keyPath === '' ? '' : `${keyPath}: `;
  const advice = nextStep === undefined ? '' : `; ${nextStep}`;
  const message = `${location}: ${key}found ${found}, expected ${expected}${advice}`;
  return {
    ...problem,
    nextStep: nextStep ?? NEXT_STEP[problem.code],
    message: escapeText(message),
  };
}

/** Kinds of problems of a configuration, as a closed set. */
export type ConfigProblemCode = FileProblemCode | ContentProblemCode;

/**
 * Problems of the file itself, which are also values of {@link ConfigError.code}.
 *
 * - `damaged`: the saved copy does not match its digest.
 * - `tooLarge`: the file has more than 1 MiB.
 * - `notRegularFile`: the path is a folder, a device, a pipe, a socket, or a link to nothing.
 * - `accessDenied`: this process may not read the file, or may not write to the folder.
 * - `insecure`: other users may write to the file, or replace it.
 * - `notFound`: loading: a required file is missing, or a part of the path is not a folder; saving: the folder is missing.
 * - `unknown`: any other failure; `cause` is the error of the system.
 */
export type FileProblemCode =
  | 'damaged'
  | 'tooLarge'
  | 'notRegularFile'
  | 'accessDenied'
  | 'insecure'
  | 'notFound'
  | 'unknown';

/** Problems of the content. Some are always warnings. */
export type ContentProblemCode =
  | ('notUtf8' | 'controlCharacter' | 'syntax' | 'multipleDocuments' | 'tooDeep')
  | ('tooManyValues' | 'tooManyProblems' | 'unsupported' | 'wrongType' | 'wrongValue' | 'missing')
  | ('twoSpellings' | 'unknownKey' | 'dropped' | 'duplicateKey' | 'legacySpelling')
  | ('duplicateEntry' | 'doubtful' | 'noEffect' | 'noWhiteList');

/** An error or a warning, with its position. */
export interface ConfigProblem {
  /** An error makes the config unusable. */
  readonly severity: 'error' | 'warning';
  readonly code: ConfigProblemCode;
  /** Name that the caller gave. */
  readonly file: string;
  /** From 1; absent for a problem without a position. */
  readonly line?: number | undefined;
  /** In UTF-16 units, from 1; present when `line` is. */
  readonly column?: number | undefined;
  /** Canonical path, such as `white_list.proxyPorts[2]`; empty for the whole file. */
  readonly keyPath: string;
  /** The second part of `message`: the value or the fault, escaped, in a few words. */
  readonly found: string;
  /** The valid values, in a few words. */
  readonly expected: string;
  /** For an unknown key: the path of the most similar known key, if one is similar enough. */
  readonly nearestKey?: string | undefined;
  readonly nextStep: string;
  /** All facts in one line, with invisible characters escaped. */
  readonly message: string;
}

/** Longest untrusted text in a message, in characters. */
export const SHOWN_CHARACTERS = 80;

/** Escapes invisible characters, and cuts the text at 80 characters. */
export function quote(text: string): string {
  return quoteText(text, { maxLength: SHOWN_CHARACTERS });
}
