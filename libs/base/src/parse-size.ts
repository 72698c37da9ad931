import { quoteText } from './text/escape-text.js';

const UNITS: Readonly<Record<string, number>> = {
  '': 1,
  k: 2 ** 10,
  m: 2 ** 20,
  g: 2 ** 30,
  t: 2 ** 40,
};
const MAX_TEXT_LENGTH = 32;

/**
 * Parses a number of bytes: `64MiB`, `512m`, `1.5Gi`, `1048576`. Units are powers of 1,024. Limit: 2^53 - 1.
 *
 * @throws RangeError for other text. The message leaves the option's name to the caller.
 */
export function parseSize(text: string): number {
  const [, amount, unit = ''] =
    /^(\d{1,16}(?:\.\d{1,3})?)(?:([kmgt])(?:i?b?)?)?$/i.exec(text) ?? [];
  const bytes = Math.round(Number(amount ?? NaN) * (UNITS[unit.toLowerCase()] ?? NaN));
  if (Number.isSafeInteger(bytes)) return bytes;
  throw new RangeError(
    `found ${quoteText(text, { maxLength: MAX_TEXT_LENGTH })}; wanted a number of bytes, such as 512MiB or 2GiB`,
  );
}
