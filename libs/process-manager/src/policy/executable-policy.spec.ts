import fc from 'fast-check';

import {
  checkAllowedExecutables,
  judgeExecutablePath,
  type AllowedExecutable,
} from './executable-policy.js';
import type { PathDialect } from './parsed-path.js';

const NGINX = 'C:\\etc\\nginx\\nginx.exe';
const DIGEST = 'ab'.repeat(32);

function judge(path: string, listed: string | AllowedExecutable, dialect: PathDialect = 'windows') {
  const entry = typeof listed === 'string' ? { path: listed } : listed;
  return judgeExecutablePath(path, [entry], dialect);
}

describe('judgeExecutablePath', () => {
  it('allows nothing when the list is empty (A1)', () => {
    expect(judgeExecutablePath(NGINX, [], 'windows')).toMatchObject({
      allowed: false,
      code: 'pathNotAllowed',
      rule: 'A1 nothing is allowed',
    });
  });

  it.each([NGINX, 'c:/ETC/nginx/NGINX.EXE', 'C:\\etc\\\\nginx//nginx.exe'])(
    'allows the listed Windows path spelt %j and opens the spelling of the rule (A2, A12)',
    (path) => {
      expect(judge(path, NGINX)).toMatchObject({ allowed: true, canonical: NGINX });
    },
  );

  it.each([
    ['A2', 'C:\\etc\\nginx\\nginx.exe'.replace('i', '\u0130'), 'A15 not listed'],
    ['A3', 'C:\\PROGRA~1\\nginx.exe', 'A3 short (8.3) name'],
    ['A4', '\\\\?\\C:\\etc\\nginx\\nginx.exe', 'A4 device namespace'],
    ['A4', '\\\\.\\C:\\etc\\nginx\\nginx.exe', 'A4 device namespace'],
    ['A4', '//?/C:/etc/nginx/nginx.exe', 'A4 device namespace'],
    ['A4', '\\??\\C:\\etc\\nginx\\nginx.exe', 'A4 device namespace'],
    ['A4', '\\\\?\\GLOBALROOT\\Device\\x.exe', 'A4 device namespace'],
    ['A5', `${NGINX}.`, 'A5 trailing dot or space'],
    ['A5', `${NGINX} `, 'A5 trailing dot or space'],
    ['A5', 'C:\\etc\\nginx .\\nginx.exe', 'A5 trailing dot or space'],
    ['A6', `${NGINX}:evil.exe`, 'A6 alternate data stream'],
    ['A6', `${NGINX}::$DATA`, 'A6 alternate data stream'],
    ['A9', 'C:\\etc\\CON', 'A9 device name'],
    ['A9', 'C:\\etc\\nul.exe', 'A9 device name'],
    ['A9', 'C:\\etc\\COM¹', 'A9 device name'],
    ['A9', 'C:\\AUX .txt\\a.exe', 'A9 device name'],
    ['A9', 'C:\\conin$\\a.exe', 'A9 device name'],
    ['A10', '\\\\host\\c$\\nginx.exe', 'A10 network path'],
    ['A10', '//host/share/nginx.exe', 'A10 network path'],
    ['A11', 'nginx.exe', 'A11 not absolute'],
    ['A11', 'C:nginx.exe', 'A11 not absolute'],
    ['A11', '\\etc\\nginx\\nginx.exe', 'A11 not absolute'],
    ['A11', 'C:\\etc\\x\\..\\nginx\\nginx.exe', 'A11 relative segment'],
    ['A11', `${NGINX}\\`, 'A11 names a directory'],
    ['A11', '', 'A11 empty or over-long path'],
    ['A13', `${NGINX}\0`, 'A13 control or invisible character'],
    ['A13', 'C:\\etc\\ng\u202einx.exe', 'A13 control or invisible character'],
    ['A13', 'C:\\etc\\ng\u200binx.exe', 'A13 control or invisible character'],
    ['A13', 'C:\\etc\\ng\ud800inx.exe', 'A13 control or invisible character'],
    ['A13', 'C:\\etc\\ng\rinx.exe', 'A13 control or invisible character'],
    ['A13', 'C:\\etc\\n?inx.exe', 'A13 character not possible in a file name'],
    ['A13', 'C:\\etc\\nginx\\ｎginx.exe', 'A15 not listed'],
    ['A14', '%SystemRoot%\\nginx.exe', 'A11 not absolute'],
    ['A14', 'C:\\%x%\\nginx.exe', 'A14 environment expansion'],
    ['A15', 'C:\\etc\\nginx\\nginx.exe-evil\\x.exe', 'A15 not listed'],
    ['A15', 'C:\\etc\\nginx\\nginx.ex', 'A15 not listed'],
    ['A20', 'C:\\etc\\run.BAT', 'A20 batch file'],
    ['A20', 'C:\\etc\\run.cmd', 'A20 batch file'],
    ['A20', 'C:\\etc\\run.PS1', 'A20 no program'],
    ['A20', 'C:\\etc\\setup.msi', 'A20 no program'],
    ['reserved', 'C:\\etc\\Rancher-Wins-nginx.exe', 'name reserved for verified copies'],
  ])('%s: refuses %j on Windows', (_attack, path, rule) => {
    expect(judge(path, NGINX)).toMatchObject({ allowed: false, rule });
    // Even an entry for exactly this path does not allow it. The paths of A15 are legal, so an entry would allow them.
    if (rule !== 'A15 not listed') expect(judge(path, path).allowed).toBe(false);
  });

  it('keeps the Kelvin sign apart from the letter k (A2)', () => {
    const kubectl = 'C:\\k\\kubectl.exe';
    expect(judge('C:\\K\\KUBECTL.EXE', kubectl).allowed).toBe(true);
    expect(judge('C:\\k\\\u212aubectl.exe', kubectl).allowed).toBe(false);
  });

  it.each([
    ['usr/bin/tool', 'A11 not absolute'],
    ['/usr/bin/../bin/tool', 'A11 relative segment'],
    ['/usr/./bin/tool', 'A11 relative segment'],
    ['/usr/bin/tool/', 'A11 names a directory'],
    ['/', 'A11 names a directory'],
    ['/usr/bin/to\0ol', 'A13 control or invisible character'],
    ['/usr/bin/to\nol', 'A13 control or invisible character'],
    [`/${'x'.repeat(4095)}`, 'A11 empty or over-long path'],
    ['/usr/bin/Tool', 'A15 not listed'],
    ['/usr/bin/tool-evil', 'A15 not listed'],
    ['/usr/bin/rancher-wins-tool', 'name reserved for verified copies'],
  ])('refuses %j on POSIX', (path, rule) => {
    const verdict = judge(path, '/usr/bin/tool', 'posix');
    expect(verdict).toMatchObject({ allowed: false, rule });
    // Threat-model numbers are for records, not for messages.
    expect('message' in verdict && verdict.message).not.toMatch(/\bA\d+\b/);
  });

  it('allows the listed POSIX path with repeated slashes, exactly cased', () => {
    expect(judge('//usr///bin/tool', '/usr/bin/tool', 'posix')).toMatchObject({
      allowed: true,
      canonical: '/usr/bin/tool',
    });
  });

  it('lets an entry that pins digests decide over one that does not', () => {
    const entries = [{ path: NGINX }, { path: NGINX.toLowerCase(), sha256: [DIGEST] }];
    expect(judgeExecutablePath(NGINX, entries, 'windows')).toMatchObject({
      allowed: true,
      rule: { sha256: [DIGEST] },
    });
  });

  it.each([{ sha256: [] }, { sha256: ['abc'] }, { envs: ['A=B'] }])(
    'never matches an entry with the fault %j',
    (fault) => {
      expect(judge(NGINX, { path: NGINX, ...fault }).allowed).toBe(false);
    },
  );

  it('escapes what it quotes, so that a path cannot forge a log line (A34)', () => {
    const verdict = judge('C:\\a\r\n{"level":"info"}\u001b[2J\u202e', NGINX);
    expect(verdict).toMatchObject({ allowed: false });
    expect('message' in verdict && verdict.message).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  });
});

describe('checkAllowedExecutables', () => {
  it('names the position and the fault of every entry that cannot match or is repeated', () => {
    const entries = [
      { path: NGINX },
      { path: 'nginx.exe' },
      { path: 'C:\\a.exe', sha256: ['no'] },
      { path: 'c:/etc/nginx/NGINX.exe' },
      { path: 'C:\\b.exe', for: [] },
    ];
    expect(
      checkAllowedExecutables(entries, 'windows').map(({ index, found, wanted }) => [
        index,
        found,
        wanted,
      ]),
    ).toEqual([
      [1, 'it is not absolute', 'the whole path'],
      [2, 'its "sha256" has an invalid digest', '64 hexadecimal digits'],
      [3, 'it repeats entry 0', 'each program once'],
      [4, 'its "for" is empty', 'at least one caller, or no "for"'],
    ]);
  });
});

describe('the path policy, for any input', () => {
  const listed = fc.constantFrom('C:\\etc\\nginx\\nginx.exe', 'D:\\Program Files\\a.b\\T-1.exe');
  const noise = fc.constantFrom(
    '\\',
    '/',
    '.',
    ' ',
    '..',
    ':',
    '%',
    '~1',
    '\0',
    '\u200b',
    '\u212a',
    'x',
    'X',
    'CON',
    '-evil',
  );

  it('accepts a mutated spelling only if it differs from the listed one in nothing but case and separators', () => {
    const mutation = fc.tuple(listed, fc.nat(), fc.nat(3), noise, fc.boolean());
    fc.assert(
      fc.property(mutation, ([path, at, cut, text, upper]) => {
        const position = at % (path.length + 1);
        const spelt = path.slice(0, position) + text + path.slice(position + cut);
        const mutated = upper ? spelt.toUpperCase() : spelt;
        const verdict = judge(mutated, path);
        const plain = (p: string) => p.replace(/[\\/]+/g, '\\').toLowerCase();
        if (verdict.allowed) {
          expect(verdict.canonical).toBe(path);
          expect(plain(mutated)).toBe(plain(path));
        }
      }),
      { numRuns: 1000 },
    );
  });

  it('accepts every harmless spelling of a listed path', () => {
    fc.assert(
      fc.property(listed, fc.infiniteStream(fc.nat(3)), (path, dice) => {
        const spelt = Array.from(path, (character, index) => {
          const roll = dice.next().value as number;
          if (character === '\\') return ['\\', '/', index > 3 ? '//' : '/', '\\'][roll] ?? '\\';
          return roll > 1 ? character.toUpperCase() : character.toLowerCase();
        });
        expect(judge(spelt.join(''), path)).toMatchObject({ allowed: true, canonical: path });
      }),
    );
  });

  it('never throws, and never accepts in POSIX what is not the listed path', () => {
    const unit = fc.nat(0x10_ffff).map((code) => String.fromCodePoint(code));
    fc.assert(
      fc.property(fc.string({ unit }), fc.boolean(), (text, prefixed) => {
        const path = prefixed ? `/usr/bin/tool${text}` : text;
        const verdict = judge(path, '/usr/bin/tool', 'posix');
        if (verdict.allowed) expect(path.replace(/\/+/g, '/')).toBe('/usr/bin/tool');
        judge(path, '/usr/bin/tool');
      }),
      { numRuns: 1000 },
    );
  });
});
