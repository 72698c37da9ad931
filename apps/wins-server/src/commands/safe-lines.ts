import { escapeText } from '@wins/base';

/** Lines of a text, with nothing in them that would steer a terminal. */
export function safeLines(texts: readonly string[]): string {
  return texts.map((text) => `${escapeText(text)}\n`).join('');
}
