import { escapeText, quoteText } from '@wins/base';

/** Next step for each kind of problem; a problem may have its own instead. */
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

/** A problem without its message; a missing `nextStep` defaults to that of its code. */
export type ProblemFacts = Omit<ConfigProblem, 'message' | 'nextStep'> & {
  readonly nextStep?: string | undefined;
};

/** Renders a problem as `file:line:column: key: found …, expected …`, followed by its own next step if it has one. */
export function describeProblem(problem: ProblemFacts): ConfigProblem {
  const { file, line, column = 1, keyPath, found, expected, nextStep } = problem;
  const place = line === undefined ? file : `${file}:${line}:${column}`;
  const key = keyPath === '' ? '' : `${keyPath}: `;
  const advice = nextStep === undefined ? '' : `; ${nextStep}`;
  const message = `${place}: ${key}found ${found}, expected ${expected}${advice}`;
  return {
    ...problem,
    nextStep: nextStep ?? NEXT_STEP[problem.code],
    message: escapeText(message),
  };
}

/** Kinds of problems of a configuration, as a closed set. */
export type ConfigProblemCode = FileProblemCode | ContentProblemCode;

/** Problems of the file itself; {@link ConfigError.code} repeats them. */
export type FileProblemCode =
  'damaged' | 'tooLarge' | 'notRegularFile' | 'accessDenied' | 'insecure' | 'notFound' | 'unknown';

/** Problems of the content: the text, a key, and problems that are always warnings. */
export type ContentProblemCode =
  | ('notUtf8' | 'controlCharacter' | 'syntax' | 'multipleDocuments' | 'tooDeep')
  | ('tooManyValues' | 'tooManyProblems' | 'unsupported' | 'wrongType' | 'wrongValue' | 'missing')
  | ('twoSpellings' | 'unknownKey' | 'dropped' | 'duplicateKey' | 'legacySpelling')
  | ('duplicateEntry' | 'doubtful' | 'noEffect' | 'noWhiteList');

/** An error or a warning, with its position. */
export interface ConfigProblem {
  /** An error keeps the configuration from being used; a warning does not. */
  readonly severity: 'error' | 'warning';
  readonly code: ConfigProblemCode;
  /** The file name that the caller gave. */
  readonly file: string;
  /** Line, from 1; absent when the problem has no position in the text. */
  readonly line?: number;
  /** Column in UTF-16 units, from 1; present exactly when `line` is. */
  readonly column?: number;
  /** Canonical path of the key, such as `white_list.proxyPorts[2]`; empty for the file as a whole. */
  readonly keyPath: string;
  readonly found: string;
  readonly expected: string;
  /** For an unknown key: the most similar known key path, if one is similar enough. */
  readonly nearestKey?: string;
  /** Next step, in a few words. */
  readonly nextStep: string;
  /** All of the above as one printable line: control and formatting characters are escaped. */
  readonly message: string;
}

/** Maximum characters of an untrusted text in a message. */
export const SHOWN_CHARACTERS = 80;

/** Quotes untrusted text for a message: invisible characters are escaped, and the text is cut to 80 characters. */
export function quote(text: string): string {
  return quoteText(text, { maxLength: SHOWN_CHARACTERS });
}
