import fc from 'fast-check';
import {
  formatServiceCommand,
  isSameCommand,
  parseServiceCommand,
  splitCommandLine,
} from './service-command.js';

const nothing = () => false;

describe('the command line of a service', () => {
  it.each([
    ['a b\tc', ['a', 'b', 'c']],
    ['  a   b  ', ['a', 'b']],
    ['"a b" c', ['a b', 'c']],
    ['a"b c"d', ['ab cd']],
    ['""', ['']],
    ['say \\"hi\\"', ['say', '"hi"']],
    ['C:\\a\\b\\ c', ['C:\\a\\b\\', 'c']],
    ['"C:\\a b\\\\" c', ['C:\\a b\\', 'c']],
    ['"a""b"', ['a"b']],
    ['Zoë "Ünïcode Straße"', ['Zoë', 'Ünïcode Straße']],
    ['', []],
  ])('%j has the words %j', (line, words) => {
    expect(splitCommandLine(line)).toEqual(words);
  });

  it('takes a quoted program as it is', () => {
    expect(parseServiceCommand('"C:\\Program Files\\wins.exe" srv app run', nothing)).toEqual({
      imagePath: 'C:\\Program Files\\wins.exe',
      args: ['srv', 'app', 'run'],
    });
  });

  it('finds the file in an unquoted path with blanks', () => {
    const files = new Set(['C:\\Program Files\\my wins\\wins.exe']);
    const line = 'C:\\Program Files\\my wins\\wins.exe srv app run --config "c:\\a b\\c"';
    expect(parseServiceCommand(line, (path) => files.has(path))).toEqual({
      imagePath: 'C:\\Program Files\\my wins\\wins.exe',
      args: ['srv', 'app', 'run', '--config', 'c:\\a b\\c'],
    });
  });

  it('takes the shortest file of an unquoted path, as the service manager does', () => {
    const files = new Set(['/a', '/a b']);
    expect(parseServiceCommand('/a b c', (path) => files.has(path))).toEqual({
      imagePath: '/a',
      args: ['b', 'c'],
    });
  });

  it('takes what stands before the first blank when no beginning is a file', () => {
    expect(parseServiceCommand('/gone/wins srv', nothing)).toEqual({
      imagePath: '/gone/wins',
      args: ['srv'],
    });
  });

  it.each(['', '   ', '"', '"" srv', '"open'])('finds no program in %j', (line) => {
    expect(parseServiceCommand(line, nothing)).toBeUndefined();
  });

  it('reads back what it writes, whatever the words', () => {
    const word = fc.string({ unit: fc.constantFrom('a', ' ', '"', '\\', 'é', '\t', '-', '=') });
    fc.assert(
      fc.property(fc.array(word), (args) => {
        const command = { imagePath: '/opt/a b/wïns', args };
        const read = parseServiceCommand(formatServiceCommand(command), nothing);
        expect(read).toEqual(command);
        expect(read !== undefined && isSameCommand(read, command)).toBe(true);
      }),
    );
  });
});
