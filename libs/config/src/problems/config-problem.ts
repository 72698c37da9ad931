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

/**
 * Problems of the content. A code without a severity here can be an error or a warning.
 *
 * - `notUtf8`: the file is not UTF-8 text. An error.
 * - `controlCharacter`: the text has a character that cannot be printed. An error.
 * - `syntax`: the text is neither YAML nor JSON. An error.
 * - `multipleDocuments`: a second YAML document follows. An error.
 * - `tooDeep`: values are nested in more than 32 levels. An error.
 * - `tooManyValues`: the file has more than 100000 values. An error.
 * - `tooManyProblems`: reading ended after 1000 problems. An error.
 * - `unsupported`: YAML beyond plain values, such as a tag, a merge key or an unknown anchor; in a change: a notation that cannot be changed in
 *   place, or a value that other keys share. An error.
 * - `wrongType`, `wrongValue`: the value of the key has another type, or is not one of the accepted values.
 * - `missing`: a required key is absent. An error.
 * - `twoSpellings`: a key is there in two spellings, or an object of key-value pairs has a key twice.
 * - `unknownKey`: no such key exists. A warning if keys are not checked strictly.
 * - `dropped`: a protection that is in force is missing in the next config. An error.
 * - `duplicateKey`: a key is there twice; the message says which value is used. A warning.
 * - `legacySpelling`: a key is written as in earlier releases. A warning.
 * - `duplicateEntry`: a list has an entry twice. A warning.
 * - `doubtful`: the value is accepted, but it is risky, or a part of it cannot be used. A warning.
 * - `noEffect`: a key does nothing here. A warning.
 * - `noWhiteList`: no program is allowed, so none may run. A warning.
 */
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
