import { joinCommandLine } from './service-command-line.js';

describe('a command line', () => {
  it.each([
    [['C:\\Program Files\\wins.exe'], '"C:\\Program Files\\wins.exe"'],
    [['w.exe', 'srv', 'app'], '"w.exe" srv app'],
    [['w.exe', 'C:\\a b\\c.yaml'], '"w.exe" "C:\\a b\\c.yaml"'],
    [['w.exe', 'say "hi"'], '"w.exe" "say \\"hi\\""'],
    [['w.exe', 'tail\\'], '"w.exe" tail\\'],
    [['w.exe', 'a tail\\\\'], '"w.exe" "a tail\\\\\\\\"'],
    [['w.exe', '\\"'], '"w.exe" "\\\\\\""'],
    [['w.exe', ''], '"w.exe" ""'],
  ])('of %j is %s', (words, line) => {
    expect(joinCommandLine(words)).toBe(line);
  });

  it.each([[[]], [['']], [['a"b.exe']], [['w.exe', 'a\0b']]])('cannot be made of %j', (words) => {
    expect(() => joinCommandLine(words)).toThrow(RangeError);
  });
});
