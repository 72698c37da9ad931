import { escapeText } from '@wins/base';

/** Joins lines of a text and escapes terminal control characters. */
export function safeLines(texts: readonly string[]): string {
  return texts.map((text) => `${escapeText(text)}\n`).join('');
}
