import fc from 'fast-check';
import { splitListValue } from './list-value.js';

describe('a list option', () => {
  it.each([
    ['', []],
    ['a', ['a']],
    ['RANCHER=hello WINS=world', ['RANCHER=hello', 'WINS=world']],
    [String.raw`C:\t.js a "b c" --x=1`, [String.raw`C:\t.js`, 'a', '"b c"', '--x=1']],
    [`A='b c' D="e 'f' g"`, [`A='b c'`, `D="e 'f' g"`]],
    ['  a   b ', ['a', 'b']],
    ['a\tb', ['a\tb']],
  ])('splits %j into %j', (text, entries) => {
    expect(splitListValue(text)).toEqual(entries);
  });

  it.each([`a "b`, `it's`, `"'"'`])('refuses %j, in which a quote is not closed', (text) => {
    expect(() => splitListValue(text)).toThrow(/^the quote . in .* is not closed$/);
  });

  it('keeps every character but the blanks between entries', () => {
    const word = fc.string({ unit: fc.constantFrom('a', '=', '\\', '-', ':', 'é'), minLength: 1 });
    const entry = fc.oneof(
      word,
      word.map((text) => `"${text} ${text}"`),
      word.map((text) => `k='${text} "'`),
    );
    fc.assert(
      fc.property(fc.array(entry), fc.integer({ min: 1, max: 3 }), (entries, blanks) => {
        expect(splitListValue(entries.join(' '.repeat(blanks)))).toEqual(entries);
      }),
    );
  });
});
