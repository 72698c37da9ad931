// Reads the default that a doc comment states: "Default 5 s." or "Default: `GET`."

/** Factors of units. Times are in milliseconds, sizes in bytes. */
const UNITS = new Map([
  ['ms', 1],
  ['s', 1000],
  ['min', 60_000],
  ['h', 3_600_000],
  ['KiB', 2 ** 10],
  ['Mi', 2 ** 20],
  ['MiB', 2 ** 20],
  ['GiB', 2 ** 30],
]);
const QUANTITY = String.raw`(-?\d[\d,]*(?:\.\d+)?)(?: (${[...UNITS.keys()].join('|')})\b)?`;
/** The end of a value: an explanation may follow. */
const END = String.raw`(?=[.,;:](?:\s|$)|$)`;
const FORMS = [
  String.raw`a burst of ${QUANTITY}, then ${QUANTITY} per second${END}`,
  String.raw`from ${QUANTITY} to ${QUANTITY}${END}`,
  String.raw`${QUANTITY}; ${QUANTITY} per second${END}`,
  String.raw`${QUANTITY}(?: each)?${END}`,
].map((form) => new RegExp(`^${form}`));

/**
 * @param {string} comment
 * @returns {{ numbers: readonly number[] } | { flag: boolean } | { text: string } | 'none' | undefined} Undefined if the comment states no default,
 *   or describes one in words.
 */
export function statedDefault(comment) {
  const [, phrase] = /\bDefault:? (.+)/.exec(comment.replaceAll(/\s+/g, ' ')) ?? [];
  if (phrase === undefined) return undefined;
  for (const form of FORMS) {
    const found = form.exec(phrase);
    if (found) return { numbers: numbersOf(found.slice(1)) };
  }
  const [, flag] = new RegExp(`^(true|false)${END}`).exec(phrase) ?? [];
  if (flag !== undefined) return { flag: flag === 'true' };
  const quoted = new RegExp(`^(?:\`([^\`]+)\`|\\{@link (\\w+)\\})${END}`).exec(phrase);
  if (quoted) return { text: quoted[1] ?? quoted[2] ?? '' };
  return new RegExp(`^none${END}`).test(phrase) ? 'none' : undefined;
}

/** @param {readonly (string | undefined)[]} groups */
function numbersOf(groups) {
  const numbers = [];
  for (let at = 0; at < groups.length; at += 2) {
    const number = Number(groups[at]?.replaceAll(',', ''));
    numbers.push(number * (UNITS.get(groups[at + 1] ?? '') ?? 1));
  }
  return numbers;
}
