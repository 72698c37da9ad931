import fc from 'fast-check';
import { windowsCommandLine } from './windows-process-start.js';
import { WindowsError } from '../windows-error.js';

/** Follows the documented rules of CommandLineToArgvW. */
function parse(line: string): string[] {
  const end = line.indexOf('"', 1);
  const read = [line.slice(1, end)];
  let at = end + 1;
  for (;;) {
    while (/[ \t]/.test(line[at] ?? '')) at += 1;
    if (at >= line.length) return read;
    let text = '';
    for (let quoted = false; at < line.length && (quoted || !/[ \t]/.test(line[at] ?? ''));) {
      const [slashes = ''] = /^\\*/.exec(line.slice(at)) ?? [];
      at += slashes.length;
      const beforeMark = line[at] === '"';
      text += beforeMark ? slashes.slice(0, Math.floor(slashes.length / 2)) : slashes;
      if (beforeMark) {
        if (slashes.length % 2 === 1) text += '"';
        else quoted = !quoted;
        at += 1;
      } else if (slashes === '') {
        text += line[at] ?? '';
        at += 1;
      }
    }
    read.push(text);
  }
}

const argument = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', ' ', '\t', '"', '\\', '\n', '%', '^') }),
  fc.string({ unit: 'binary' }).filter((text) => !text.includes('\0')),
);

describe('windowsCommandLine', () => {
  it('is read back as what it was made of', () => {
    fc.assert(
      fc.property(fc.array(argument), (args) => {
        const line = windowsCommandLine('C:\\a b\\x.exe', args);
        expect(parse(line)).toEqual(['C:\\a b\\x.exe', ...args]);
      }),
    );
  });

  it.each([
    [['plain', 'a b', ''], '"x" plain "a b" ""'],
    [['a\\', 'a b\\', 'a\\"b'], '"x" a\\ "a b\\\\" "a\\\\\\"b"'],
    [['&|^%PATH%!'], '"x" &|^%PATH%!'],
  ])('writes %j as %s', (args, line) => {
    expect(windowsCommandLine('x', args)).toBe(line);
  });

  it('takes 32,766 characters and refuses one more, before or after quoting', () => {
    expect(windowsCommandLine('x', ['a'.repeat(32_762)])).toHaveLength(32_766);
    expect(() => windowsCommandLine('x', ['a'.repeat(32_763)])).toThrow(/32767 characters/);
    expect(() => windowsCommandLine('x', ['"'.repeat(16_381)])).toThrow(/32768 characters/);
    expect(() => windowsCommandLine('x', ['\\'.repeat(5e6)])).toThrow(/5000002 characters/);
  });

  it.each([
    ['x', ['a\0b']],
    ['x\0', []],
    ['x"y', []],
    ['', []],
  ])('refuses %j with %j', (argv0, args) => {
    expect(() => windowsCommandLine(argv0, args)).toThrow(WindowsError);
  });
});
