/** Control, format, unassigned and private-use characters, lone surrogates, separators of lines and paragraphs, and blanks but the space. */
const invisible = (): RegExp => /[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u;
const everyInvisible = (): RegExp => /[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;
// Nearly every text is one of these. The expressions above take as long to be made as a client takes to connect to its daemon.
const PLAIN = /^[\x20-\x7e]*$/;
const PLAIN_IN_QUOTES = /^[ !#-[\]-~]*$/;
const PLAIN_LINES = /^[\x20-\x7e\n]*$/;
const MAX_LENGTH = 65_536;
const MAX_QUOTED_LENGTH = 512;
const CUT = '…';

/** How long a text may become. */
export interface TextLimit {
  /** In UTF-16 units, escapes included. What is longer is cut between two characters and ends with `…`. */
  readonly maxLength?: number;
}

/** Whether a reader of a log or a terminal would not see some character of the text, or would see the text changed by it. */
export function hasInvisible(text: string): boolean {
  return !PLAIN.test(text) && invisible().test(text);
}

/**
 * Makes foreign text fit to be shown: it can neither forge a line of a log nor steer a terminal nor turn words around.
 * An invisible character becomes an escape of JavaScript: `\u202e`, or `\u{e0041}` beyond U+FFFF. Backslashes stay as
 * they are.
 *
 * @param limit By default 65,536.
 */
export function escapeText(text: string, { maxLength = MAX_LENGTH }: TextLimit = {}): string {
  if (text.length <= maxLength && !hasInvisible(text)) return text;
  return bounded(text, maxLength, escapeCharacter);
}

/**
 * The same in double quotes, where its own quotes and backslashes have a backslash before them: for a message that repeats
 * foreign text.
 *
 * @param limit Of the text between the quotes. By default 512.
 */
export function quoteText(text: string, { maxLength = MAX_QUOTED_LENGTH }: TextLimit = {}): string {
  const isPlain = text.length <= maxLength && PLAIN_IN_QUOTES.test(text);
  return `"${isPlain ? text : bounded(text, maxLength, quoteCharacter)}"`;
}

/**
 * Escapes the invisible characters of a JSON text so that it stays JSON and has the same value: a character beyond U+FFFF
 * takes two escapes. Line feeds stay: in JSON they can only stand between values.
 */
export function escapeJson(json: string): string {
  if (PLAIN_LINES.test(json)) return json;
  return json.replace(everyInvisible(), (character) =>
    character === '\n' ? character : character.split('').map(escapeUnit).join(''),
  );
}

function bounded(text: string, maxLength: number, show: (character: string) => string): string {
  let shown = '';
  let roomForCut = 0;
  for (const character of text) {
    shown += show(character);
    if (shown.length > maxLength) return shown.slice(0, roomForCut) + CUT;
    if (shown.length < maxLength) roomForCut = shown.length;
  }
  return shown;
}

function quoteCharacter(character: string): string {
  const quoted = JSON.stringify(character).slice(1, -1);
  return quoted === character ? escapeCharacter(character) : quoted;
}

function escapeCharacter(character: string): string {
  if (!hasInvisible(character)) return character;
  return character.length === 1
    ? escapeUnit(character)
    : `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/**
 * Lower-cases A to Z and nothing else, to compare names: full case folding would make U+212A (Kelvin) a `k`, and another file would
 * pass for the listed one.
 */
export function foldAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
