import fc from 'fast-check';
import { PipeError } from './pipe-error.js';
import { resolvePipePath } from './pipe-path.js';

const posix = { platform: 'linux', runtimeDir: '/run/wins' } as const;
const windows = { platform: 'win32' } as const;

describe('resolvePipePath', () => {
  test.each(['npipe:////./pipe/rancher_wins', '\\\\.\\pipe\\rancher_wins', 'rancher_wins'])(
    'takes %s for the same pipe on both platforms',
    (name) => {
      expect(resolvePipePath(name, posix)).toEqual({
        name: 'rancher_wins',
        address: '/run/wins/rancher_wins',
        kind: 'unix-socket',
      });
      expect(resolvePipePath(name, windows)).toEqual({
        name: 'rancher_wins',
        address: '\\\\.\\pipe\\rancher_wins',
        kind: 'named-pipe',
      });
    },
  );

  test('takes the prefixes in any case, as Windows does', () => {
    expect(resolvePipePath('NPIPE:////./PIPE/x', windows).name).toBe('x');
    expect(resolvePipePath('\\\\.\\Pipe\\x', windows).name).toBe('x');
  });

  test('takes an absolute path for a socket on POSIX only', () => {
    expect(resolvePipePath('/srv/wins/my.sock', posix)).toEqual({
      name: '/srv/wins/my.sock',
      address: '/srv/wins/my.sock',
      kind: 'unix-socket',
    });
    expect(codeOf('/srv/wins/my.sock', windows)).toBe('invalidName');
  });

  test('looks for the run directory only when a name needs it', () => {
    const bare = { platform: 'linux', environment: {}, uid: 1000 } as const;
    expect(resolvePipePath('/srv/my.sock', bare).address).toBe('/srv/my.sock');
    expect(() => resolvePipePath('x', bare)).toThrow(
      expect.objectContaining({ code: 'notFound' }) as Error,
    );
  });

  test.each([
    ['nothing', ''],
    ['blanks', '  '],
    ['a prefix without a name', '\\\\.\\pipe\\'],
    ['a pipe of another host', '\\\\host\\pipe\\x'],
    ['a pipe of another host behind npipe', 'npipe:////host/pipe/x'],
    ['a backslash', 'a\\b'],
    ['a nested pipe name', '\\\\.\\pipe\\a\\b'],
    ['a way out of the run directory', 'npipe:////./pipe/../x'],
    ['the parent directory', '..'],
    ['a hidden name', '.x'],
    ['a hidden socket', '/srv/.x'],
    ['a relative path', './x'],
    ['a path with dots', '/srv/../x'],
    ['a path with doubled slashes', '/srv//x'],
    ['a path that ends in a slash', '/srv/'],
    ['the root directory', '/'],
    ['a path with a backslash', '/srv/a\\b'],
    ['a NUL', 'a\0b'],
    ['a line feed', 'a\nb'],
    ['an escape', '\u001b[31m'],
    ['a direction override', 'a\u202eb'],
    ['a zero-width space', 'a\u200bb'],
    ['an unpaired surrogate', 'a\ud800'],
    ['a line separator', 'a\u2028b'],
    ['a blank at the end', 'x '],
    ['a blank at the start', ' x'],
    ['the address of another transport', 'tcp://127.0.0.1:80'],
  ])('refuses %s', (_what, name) => {
    expect(codeOf(name, posix)).toBe('invalidName');
    expect(codeOf(name, windows)).toBe('invalidName');
  });

  test('names the remote host rule when it refuses a remote pipe', () => {
    expect(() => resolvePipePath('\\\\host\\pipe\\x', windows)).toThrow(/pipe of another host/);
  });

  test('holds the limits of the platform exactly', () => {
    expect(codeOf('x'.repeat(256 - 9), windows)).toBeUndefined();
    expect(codeOf('x'.repeat(257 - 9), windows)).toBe('invalidName');
    expect(codeOf(`/srv/${'x'.repeat(102)}`, posix)).toBeUndefined();
    expect(codeOf(`/srv/${'x'.repeat(103)}`, posix)).toBe('invalidName');
    expect(codeOf(`/srv/${'ü'.repeat(52)}`, posix)).toBe('invalidName');
    expect(codeOf(`/srv/${'x'.repeat(99)}`, { platform: 'darwin' })).toBe('invalidName');
    expect(codeOf(`/${'d'.repeat(92)}/x`, posix)).toBeUndefined();
    expect(codeOf(`/${'d'.repeat(93)}/x`, posix)).toBe('invalidName');
  });

  test('does not repeat a text of any size in its message', () => {
    expect(() => resolvePipePath('x'.repeat(1_000_000), posix)).toThrow(
      expect.objectContaining({ message: expect.stringMatching(/^.{1,1000}$/) as string }) as Error,
    );
  });

  test('shows what cannot be seen in a refused text', () => {
    expect(() => resolvePipePath('a\u202e\n\ud800b', posix)).toThrow(/"a\\u202e\\u000a\\ud800b"/);
  });

  test('never leaves the run directory or the local pipes, whatever the text', () => {
    const part = fc.constantFrom('npipe:////./pipe/', '\\\\.\\pipe\\', '..', '.', '/', '\\', 'a');
    const unit = fc.nat(0x10_ffff).map((code) => String.fromCodePoint(code));
    const text = fc.oneof(
      fc.string({ unit }),
      fc.array(part).map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(text, (name) => {
        for (const options of [posix, windows]) {
          const address = tryResolve(name, options);
          if (address === undefined) continue;
          if (options === windows) expect(address).toMatch(/^\\\\\.\\pipe\\[^\\/]+$/);
          else if (address !== name) expect(address).toMatch(/^\/run\/wins\/[^/\\.][^/\\]*$/);
        }
      }),
    );
  });
});

type Options = Parameters<typeof resolvePipePath>[1];

function tryResolve(name: string, options: Options): string | undefined {
  try {
    return resolvePipePath(name, options).address;
  } catch (error) {
    expect(error).toBeInstanceOf(PipeError);
    return undefined;
  }
}

function codeOf(name: string, options: Options): string | undefined {
  try {
    resolvePipePath(name, options);
    return undefined;
  } catch (error) {
    return error instanceof PipeError ? error.code : 'not a PipeError';
  }
}
