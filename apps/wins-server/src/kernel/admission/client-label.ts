import { escapeText } from '@wins/base';

const MAX_LENGTH = 128;

/** What a client calls itself, as records may repeat it: at most 128 characters, and none that steers a terminal. */
export function clientLabel(text: string): string {
  return escapeText(text, { maxLength: MAX_LENGTH });
}
