import { rewrite } from './endpoints.js';

const NAME = 'rancher/some-img.v1';

describe('a rewrite of Go', () => {
  it.each([
    ['^rancher/(.*)', 'a/$1', 'a/some-img.v1'],
    ['(.*)', 'a/$1', 'a/rancher/some-img.v1'],
    ['(?i)^RANCHER/(.*)', 'a/$1', 'a/some-img.v1'],
    ['^(?i:RANCHER)/SOME', 'a/$1', NAME],
    ['^(?i:RANCHER)/(some)', 'a/$1', 'a/some-img.v1'],
    ['^ra(?i)NCHER/[A-Z]+-[^A-Z]?', 'a/', 'a/img.v1'],
    ['(?im)^RANCHER/', '', 'some-img.v1'],
    ['(?i-i)^RANCHER/', 'a/', NAME],
    ['(?U)^r.*/', 'a/', 'a/some-img.v1'],
    ['(?U)e.+?', 'x', 'ranchx'],
    ['^(?P<team>[^/]+)/(.*)$', '${team}-b/${2}', 'rancher-b/some-img.v1'],
    ['^(?<team>[^/]+)/', '${team}2/', 'rancher2/some-img.v1'],
    ['^(rancher)/', 'x$1x/', 'x/some-img.v1'],
    ['\\Arancher/(\\w+)-[[:alpha:]]+\\.v\\d\\z', 'b/$1', 'b/some'],
    ['^[[:alnum:]_-]+/', 'c/', 'c/some-img.v1'],
    ['^[]a-z]+/', 'd/', 'd/some-img.v1'],
    ['^\\Qrancher/\\E', 'e/', 'e/some-img.v1'],
    ['^\\x72\\x{61}\\156cher\\/', 'f/', 'f/some-img.v1'],
    ['^\\pL+/', 'g/', 'g/some-img.v1'],
    ['^\\p{Greek}|^\\p{^Greek}{7}/', 'h/', 'h/some-img.v1'],
    ['^(?:rancher|suse)/', 'i/', 'i/some-img.v1'],
    ['-', '--', 'rancher/some--img.v1'],
    ['r{1,2}a', 'ta', 'tancher/some-img.v1'],
    ['.{3}$', 'v2', 'rancher/some-imgv2'],
    ['[[:^alpha:]]s', '/t', 'rancher/tome-img.v1'],
    ['z*', '', NAME],
    ['(a|aa)*$', '', NAME],
  ])('%s to %j makes %s', async (pattern, replacement, expected) => {
    const { repository } = await rewrite(NAME, { [pattern]: replacement });
    expect(repository).toBe(expected);
  });

  it('takes a time that grows as the name does, whatever the expression', async () => {
    const name = 'a'.repeat(400);
    expect((await rewrite(name, { '^(a+)+(a+)+b$': 'x' })).repository).toBe(name);
  });

  it('counts when it is the first that changes the name, and says so', async () => {
    const rewrites = { '^nothing': 'a', '^rancher': 'rancher', '^rancher/': 'b/', img: 'c' };
    expect(await rewrite(NAME, rewrites)).toEqual({
      repository: 'b/some-img.v1',
      pattern: '^rancher/',
    });
  });

  it.each([
    ['(?=rancher)', 'invalid or unsupported Perl syntax: `(?=`'],
    ['(?<=a)', 'invalid named capture: `(?<=a)`'],
    ['(a)\\1', 'invalid escape sequence: `\\\\1`'],
    ['\\Z', 'invalid escape sequence: `\\\\Z`'],
    ['[[:other:]]', 'invalid character class range: `[:other:]`'],
    ['[a', 'missing closing ]: `[a`'],
    ['a**', 'invalid nested repetition operator: `**`'],
    ['(a{1000}){1000}', 'invalid repeat count: `{1000}`'],
  ])('%s is refused, and its part named: %s', async (pattern, part) => {
    await expect(rewrite(NAME, { [pattern]: 'x' })).rejects.toThrow(
      `found "${part}"; wanted a regular expression of Go's`,
    );
  });

  it.each(['../x', 'UPPER', 'a//b', ''])(
    'that makes %j no name of a repository is refused',
    async (to) => {
      await expect(rewrite(NAME, { '.*': to })).rejects.toThrow('wanted the name of a repository');
    },
  );
});
