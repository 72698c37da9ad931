import fc from 'fast-check';
import {
  isSameCommand,
  parseServiceCommand,
  splitCommandLine,
  type ServiceCommand,
} from './service-command.js';

const nothing = () => false;

const lineOf = ({ imagePath, args }: ServiceCommand): string =>
  [`"${imagePath}"`, ...args.map(quoteWord)].join(' ');

function quoteWord(word: string): string {
  if (word !== '' && !/[\s"]/.test(word)) return word;
  return `"${word.replace(/(\\*)"/g, '$1$1\\"').replace(/(\\+)$/, '$1$1')}"`;
}

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

  it('has the words that were written as Windows wants them, whatever they are', () => {
    const word = fc.string({ unit: fc.constantFrom('a', ' ', '"', '\\', 'é', '\t', '-', '=') });
    fc.assert(
      fc.property(fc.array(word), (args) => {
        const command = { imagePath: '/opt/a b/wïns', args };
        const read = parseServiceCommand(lineOf(command), nothing);
        expect(read).toEqual(command);
        expect(read !== undefined && isSameCommand(read, command)).toBe(true);
      }),
    );
  });
});
