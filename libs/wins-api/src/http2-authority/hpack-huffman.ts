/*
 * The Huffman code of RFC 7541, appendix B, as far as header names and addresses need it: all codes of up to 13 bits.
 * The code is canonical (codes of one length count upwards), so a row is a length and the characters in order.
 */
const ROWS: readonly (readonly [bits: number, characters: string])[] = [
  [5, '012aceiost'],
  [6, ' %-./3456789=A_bdfghlmnpru'],
  [7, ':BCDEFGHIJKLMNOPQRSTUVWYjkqvwxyz'],
  [8, '&*,;XZ'],
  [10, '!"()?'],
  [11, "'+|"],
  [12, '#>'],
  [13, '\0$@[]~'],
];

interface Code {
  readonly character: string;
  readonly bits: number;
  readonly value: number;
}

function canonicalCodes(): readonly Code[] {
  const codes: Code[] = [];
  let value = 0;
  let previousBits = 0;
  for (const [bits, characters] of ROWS) {
    value <<= bits - previousBits;
    previousBits = bits;
    for (const character of characters) codes.push({ character, bits, value: value++ });
  }
  return codes;
}

const LONGEST = 13;
const CODES = canonicalCodes();
const BY_CHARACTER: ReadonlyMap<string, Code> = new Map(
  CODES.map((code) => [code.character, code]),
);
// A leading 1 bit keeps codes of different lengths apart: 0b1_00101 is not 0b1_0101.
const BY_MARKED_VALUE: ReadonlyMap<number, string> = new Map(
  CODES.map((code) => [(1 << code.bits) | code.value, code.character]),
);

/** Decodes a Huffman-coded string; undefined when it is malformed or holds a character outside the table. */
export function decodeHuffman(bytes: Buffer): string | undefined {
  let text = '';
  let marked = 1;
  let bits = 0;
  for (const byte of bytes) {
    for (let bit = 7; bit >= 0; bit--) {
      marked = (marked << 1) | ((byte >> bit) & 1);
      bits++;
      const character = BY_MARKED_VALUE.get(marked);
      if (character !== undefined) {
        text += character;
        marked = 1;
        bits = 0;
      } else if (bits === LONGEST) {
        return undefined;
      }
    }
  }
  // What is left is padding: fewer than eight bits, all of them set.
  return bits < 8 && marked === (1 << (bits + 1)) - 1 ? text : undefined;
}

/** Encodes a string, padded to whole bytes; undefined when it holds a character outside the table. */
export function encodeHuffman(text: string): Buffer | undefined {
  const bytes: number[] = [];
  let pending = 0;
  let bits = 0;
  for (const character of text) {
    const code = BY_CHARACTER.get(character);
    if (code === undefined) return undefined;
    pending = (pending << code.bits) | code.value;
    bits += code.bits;
    while (bits >= 8) {
      bits -= 8;
      bytes.push((pending >> bits) & 0xff);
    }
    pending &= (1 << bits) - 1;
  }
  if (bits > 0) bytes.push(((pending << (8 - bits)) | (0xff >> bits)) & 0xff);
  return Buffer.from(bytes);
}
