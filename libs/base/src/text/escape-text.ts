/** Matches control, format, unassigned and private-use characters, lone surrogates, line separators, and every blank except the space. */
const invisible = (): RegExp => /[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u;
const everyInvisible = (): RegExp => /[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;
// Fast path for plain ASCII, because compiling the expressions above takes as long as connecting to the daemon.
const PLAIN = /^[\x20-\x7e]*$/;
const PLAIN_IN_QUOTES = /^[ !#-[\]-~]*$/;
const PLAIN_LINES = /^[\x20-\x7e\n]*$/;
const MAX_LENGTH = 65_536;
const MAX_QUOTED_LENGTH = 512;
const CUT = '…';

/** Limit of an escaped text. */
export interface TextLimit {
  /** Maximum in UTF-16 units, escapes included. A longer text ends with `…`. */
  readonly maxLength?: number | undefined;
}

/** Whether the text has a character that a terminal hides, or that changes how other text is displayed. */
export function hasInvisible(text: string): boolean {
  return !PLAIN.test(text) && invisible().test(text);
}

/**
 * Escapes untrusted text, which could forge a log line, control a terminal, or reverse the direction of text. Invisible
 * characters become JavaScript escapes: `\u202e`, or `\u{e0041}` beyond U+FFFF. Backslashes stay. Default limit: 65,536.
 */
export function escapeText(text: string, { maxLength = MAX_LENGTH }: TextLimit = {}): string {
  if (text.length <= maxLength && !hasInvisible(text)) return text;
  return bounded(text, maxLength, escapeCharacter);
}

/** Like {@link escapeText}, but adds double quotes, and escapes quotes and backslashes. Default limit: 512, without the quotes. */
export function quoteText(text: string, { maxLength = MAX_QUOTED_LENGTH }: TextLimit = {}): string {
  const isPlain = text.length <= maxLength && PLAIN_IN_QUOTES.test(text);
  return `"${isPlain ? text : bounded(text, maxLength, quoteCharacter)}"`;
}

/** Escapes invisible characters in JSON without changing its value. Line feeds stay, because JSON has them only between values. */
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

/** Lower-cases A to Z only. Full case folding turns U+212A (Kelvin) into `k`, so one file could pass for another. */
export function foldAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
