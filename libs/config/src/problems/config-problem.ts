import { quoteText } from '@wins/wins-program';

/**
 * What is wrong with a configuration, as a closed set.
 *
 * About the file: `damaged`, `tooLarge`, `notRegularFile`, `accessDenied`, `insecure`, `notFound`, `unknown`.
 * About its text: `notUtf8`, `controlCharacter`, `syntax`, `multipleDocuments`, `tooDeep`,
 * `tooManyValues`, `tooManyProblems`, `unsupported`.
 * About a key: `wrongType`, `wrongValue`, `missing`, `twoSpellings`, `unknownKey`, `dropped`.
 * Only ever a warning: `duplicateKey`, `legacySpelling`, `duplicateEntry`, `doubtful`, `noEffect`, `noWhiteList`.
 */
export type ConfigProblemCode = FileProblemCode | ContentProblemCode;

/** Problems of the file itself; {@link ConfigError.code} repeats them. */
export type FileProblemCode =
  'damaged' | 'tooLarge' | 'notRegularFile' | 'accessDenied' | 'insecure' | 'notFound' | 'unknown';

/** Problems of what the file says. */
export type ContentProblemCode =
  | 'notUtf8'
  | 'controlCharacter'
  | 'syntax'
  | 'multipleDocuments'
  | 'tooDeep'
  | 'tooManyValues'
  | 'tooManyProblems'
  | 'unsupported'
  | 'wrongType'
  | 'wrongValue'
  | 'missing'
  | 'twoSpellings'
  | 'unknownKey'
  | 'dropped'
  | 'duplicateKey'
  | 'legacySpelling'
  | 'duplicateEntry'
  | 'doubtful'
  | 'noEffect'
  | 'noWhiteList';

/** One thing that is wrong, or doubtful, and where. */
export interface ConfigProblem {
  /** An error keeps the configuration from being used; a warning does not. */
  readonly severity: 'error' | 'warning';
  readonly code: ConfigProblemCode;
  /** The file name that the caller gave. */
  readonly file: string;
  /** Line, from 1; absent when the problem is not at a place in the text. */
  readonly line?: number;
  /** Column in UTF-16 units, from 1; present exactly when `line` is. */
  readonly column?: number;
  /** Canonical path of the key, such as `white_list.proxyPorts[2]`; empty for the file as a whole. */
  readonly keyPath: string;
  readonly found: string;
  readonly expected: string;
  /** For an unknown key: the known key path that is nearest, when one is near. */
  readonly nearestKey?: string;
  /** What to do about it, in a few words. */
  readonly nextStep: string;
  /** All of the above as one printable line: control and formatting characters are escaped. */
  readonly message: string;
}

/** As much of a foreign text as a message repeats. */
export const SHOWN_CHARACTERS = 80;

/** Quotes foreign text for a message: nothing invisible in it, and at most 80 characters. */
export function quote(text: string): string {
  return quoteText(text, { maxLength: SHOWN_CHARACTERS });
}
