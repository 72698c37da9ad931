import { quoteText } from './escape-text.js';

const UNITS: Readonly<Record<string, number>> = { '': 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30 };
const MAX_TEXT_LENGTH = 32;

/**
 * Reads a number of bytes: `64MiB`, `512m`, `1.5Gi`, or without a unit, `1048576`. Units are powers of 1,024, in any case.
 *
 * @returns Whole bytes, at most 2^53 - 1.
 * @throws RangeError for a text that is none.
 *   Its message gives the finding and the expectation; the caller puts the name of the option in front.
 */
export function parseSize(text: string): number {
  const [, amount, unit = ''] = /^(\d{1,16}(?:\.\d{1,3})?)(?:([kmg])(?:i?b?)?)?$/i.exec(text) ?? [];
  const bytes = Math.round(Number(amount ?? NaN) * (UNITS[unit.toLowerCase()] ?? NaN));
  if (Number.isSafeInteger(bytes)) return bytes;
  throw new RangeError(
    `found ${quoteText(text, { maxLength: MAX_TEXT_LENGTH })}; wanted a number of bytes, such as 512MiB or 2GiB`,
  );
}
