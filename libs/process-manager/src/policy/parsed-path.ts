import type { PathRule } from './path-rule.js';

/** How paths are spelt and compared: Windows (`C:\x`, any ASCII case) or POSIX (`/x`, exact). */
export type PathDialect = 'windows' | 'posix';

/** A path whose spelling holds nothing that an operating system would reinterpret. */
export interface ParsedPath {
  /** The one spelling used from here on: single separators, upper-case drive letter. */
  readonly canonical: string;
  /** Two paths name the same file by their spelling exactly when their keys are equal. */
  readonly key: string;
  /** The last segment; empty for a root. */
  readonly baseName: string;
  /** The path ended with a separator, so it can only mean a directory. */
  readonly namesDirectory: boolean;
}

/** Why a spelling was refused. */
export interface PathRefusal {
  readonly refused: PathRule;
}

// Controls, format characters (bidirectional and zero-width among them), lone surrogates, line
// separators, and the mark that a decoder leaves where bytes were not valid UTF-8.
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\uFFFD]/u;

/** True when the text holds a character that a reader of a log or a rule could not see. */
export function hasUnprintable(text: string): boolean {
  return UNPRINTABLE.test(text);
}

/**
 * Lower-cases A to Z and nothing else: full case folding would make U+212A (Kelvin) a `k`, and a
 * different file would pass for the listed one.
 */
export function foldAscii(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}
