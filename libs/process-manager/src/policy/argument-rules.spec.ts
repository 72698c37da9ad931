import fc from 'fast-check';

import { allowsArguments, faultOfArgumentRules, type ArgumentRules } from './argument-rules.js';

const NGINX: ArgumentRules = [
  ['up'],
  ['-c', { pathUnder: 'C:\\etc\\nginx' }],
  ['--port', { port: true }, { after: '--level=', oneOf: ['info', 'debug'] }],
  [{ integer: { min: -1, max: 9 } }],
  [],
];

describe('allowsArguments', () => {
  it.each<[readonly string[]]>([
    [[]],
    [['up']],
    [['-c', 'C:\\etc\\nginx\\nginx.conf']],
    [['-c', 'c:/ETC/nginx/sub/x.conf']],
    [['--port', '65535', '--level=debug']],
    [['-1']],
    [['0']],
  ])('allows %j', (args) => {
    expect(allowsArguments(NGINX, args, 'windows')).toBe(true);
  });

  it.each<[readonly string[]]>([
    [['UP']],
    [['up', '--wins-args', 'x']],
    [['']],
    [['-c']],
    [['-c', 'C:\\etc\\nginx']],
    [['-c', 'C:\\etc\\nginx\\']],
    [['-c', 'C:\\etc\\nginx-evil\\x.conf']],
    [['-c', 'C:\\etc\\nginx\\..\\x.conf']],
    [['-c', 'C:\\etc\\nginx\\x.conf:stream']],
    [['-c', '\\\\host\\c$\\etc\\nginx\\x.conf']],
    [['-c', 'nginx.conf']],
    [['--port', '0', '--level=info']],
    [['--port', '65536', '--level=info']],
    [['--port', '080', '--level=info']],
    [['--port', '80', '--level=trace']],
    [['--port', '80', 'info']],
    [['10']],
    [['+1']],
    [['1.0']],
    [['1e0']],
    [[' 1']],
    [['-0']],
    [['\u0661']],
  ])('refuses %j', (args) => {
    expect(allowsArguments(NGINX, args, 'windows')).toBe(false);
  });

  it('knows none and any', () => {
    expect(allowsArguments('none', [], 'posix')).toBe(true);
    expect(allowsArguments('none', [''], 'posix')).toBe(false);
    expect(allowsArguments([], [], 'posix')).toBe(false);
    expect(allowsArguments('any', ['x'], 'posix')).toBe(true);
  });

  it('never lets a path out of its folder, whatever it is made of', () => {
    const piece = fc.constantFrom('a', '.', '..', '', '...', 'etc', 'b\0', '\u202e', '~1', '//');
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const path = `/etc/a/${pieces.join('/')}`;
        if (!allowsArguments([[{ pathUnder: '/etc/a' }]], [path], 'posix')) return;
        expect(path.split('/')).not.toContain('..');
        expect(path.startsWith('/etc/a/')).toBe(true);
      }),
    );
  });

  it.each<[ArgumentRules]>([
    [[[{ pathUnder: 'etc' }]]],
    [[[{ pathUnder: '/etc/../x' }]]],
    [[[{ oneOf: [] }]]],
    [[[{ integer: { min: 2, max: 1 } }]]],
  ])('finds fault with %j', (rules) => {
    expect(faultOfArgumentRules(rules, 'posix')).toMatch(/of its "args".*; wanted/);
    expect(faultOfArgumentRules(NGINX, 'windows')).toBeUndefined();
  });
});
