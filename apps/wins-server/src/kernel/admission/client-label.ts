import { escapeText } from '@wins/base';

const MAX_LENGTH = 128;

/** Returns the name that a client gives itself, in a form that is safe in records: at most 128 characters, none of which controls a terminal. */
export function clientLabel(text: string): string {
  return escapeText(text, { maxLength: MAX_LENGTH });
}
