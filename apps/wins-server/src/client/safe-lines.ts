import { escapeText } from '@wins/base';

export function safeLines(texts: readonly string[]): string {
  return texts.map((text) => `${escapeText(text)}\n`).join('');
}
