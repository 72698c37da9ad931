import { escapeJson, escapeText, hasInvisible, quoteText } from '../index.js';

const INVISIBLE = [
  ['a C0 control', '\u001b', String.raw`\u001b`],
  ['DEL', '\u007f', String.raw`\u007f`],
  ['a C1 control', '\u009b', String.raw`\u009b`],
  ['a bidirectional override', '\u202e', String.raw`\u202e`],
  ['a bidirectional isolate', '\u2066', String.raw`\u2066`],
  ['a zero-width space', '\u200b', String.raw`\u200b`],
  ['a byte order mark', '\ufeff', String.raw`\ufeff`],
  ['a line separator', '\u2028', String.raw`\u2028`],
  ['a paragraph separator', '\u2029', String.raw`\u2029`],
  ['a lone high surrogate', '\ud800', String.raw`\ud800`],
  ['a lone low surrogate', '\udc00', String.raw`\udc00`],
  ['an unassigned character', '\u0378', String.raw`\u0378`],
  ['a private-use character', '\ue000', String.raw`\ue000`],
  ['a tag beyond U+FFFF', '\u{e0041}', String.raw`\u{e0041}`],
  ['another tag, told from the first', '\u{e0042}', String.raw`\u{e0042}`],
  ['the last code point', '\u{10ffff}', String.raw`\u{10ffff}`],
] as const;

describe('foreign text', () => {
  it.each(INVISIBLE)('has %s shown as an escape', (_, character, escape) => {
    expect(escapeText(`a${character}b`)).toBe(`a${escape}b`);
    expect(quoteText(`a${character}b`)).toBe(`"a${escape}b"`);
    expect(hasInvisible(`a${character}b`)).toBe(true);
  });

  it.each(INVISIBLE)('in JSON has %s escaped, and its value unchanged', (_, character) => {
    const value = { text: `a${character}b` };
    const escaped = escapeJson(JSON.stringify(value));
    expect(escaped).toMatch(/^[\x20-\x7e]*$/);
    expect(JSON.parse(escaped)).toEqual(value);
  });

  it('that can be seen stays as it is', () => {
    const text = 'C:\\Pfad mit Äpfeln\\日本 e\u0301 👍 "x" %1';
    expect(escapeText(text)).toBe(text);
    expect(escapeJson(text)).toBe(text);
    expect(hasInvisible(text)).toBe(false);
  });

  it('in quotes cannot end them', () => {
    expect(quoteText('a" b\\')).toBe(String.raw`"a\" b\\"`);
    expect(quoteText('a\nb\tc')).toBe(String.raw`"a\nb\tc"`);
  });

  it('keeps the line feeds between the values of JSON', () => {
    const json = `${JSON.stringify({ text: 'a\u202e\n' }, null, 2)}\n`;
    expect(escapeJson(json)).toBe('{\n  "text": "a\\u202e\\n"\n}\n');
  });

  it('is never longer than its limit, escapes and the mark of the cut included', () => {
    expect(escapeText('x'.repeat(8), { maxLength: 8 })).toBe('xxxxxxxx');
    expect(escapeText('x'.repeat(9), { maxLength: 8 })).toBe('xxxxxxx…');
    expect(escapeText('\u001b'.repeat(1_000_000), { maxLength: 8 })).toBe('\\u001b…');
    expect(escapeText('x'.repeat(1_000_000))).toHaveLength(65_536);
    expect(quoteText('\\'.repeat(1_000_000))).toHaveLength('""'.length + 511);
  });

  it('is not cut within a character or an escape', () => {
    expect(escapeText('👍👍', { maxLength: 3 })).toBe('👍…');
    expect(escapeText('ab\u{e0041}c', { maxLength: 8 })).toBe('ab…');
    expect(quoteText('ab"c', { maxLength: 4 })).toBe('"ab…"');
  });
});
