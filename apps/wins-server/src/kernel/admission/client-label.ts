import { escapeText } from '@wins/base';

const MAX_LENGTH = 128;

/** Escapes a name that a client chose for itself, and cuts it to 128 characters. */
export function clientLabel(text: string): string {
  return escapeText(text, { maxLength: MAX_LENGTH });
}
