const MAX_QUOTED_LENGTH = 512;

// JSON.stringify leaves these alone, and a terminal or a log viewer obeys them.
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/**
 * Puts foreign text into a message so that it can neither forge a log line nor steer a terminal:
 * quoted, invisible characters escaped, cut at 512 UTF-16 units.
 */
export function quoteText(text: string): string {
  const cut = text.length > MAX_QUOTED_LENGTH ? `${text.slice(0, MAX_QUOTED_LENGTH)}…` : text;
  return JSON.stringify(cut).replace(
    INVISIBLE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
