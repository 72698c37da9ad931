import { rewrite } from './rewrite.js';

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
    ['^(rancher)/', '$1x/a', 'a/some-img.v1'.replace('a/', '/a')],
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
  ])('%s to %j makes %s', (pattern, replacement, expected) => {
    if (expected.startsWith('/'))
      expect(() => rewrite(NAME, { [pattern]: replacement })).toThrow('the name of a repository');
    else expect(rewrite(NAME, { [pattern]: replacement }).repository).toBe(expected);
  });

  it('counts when it is the first that changes the name, and says so', () => {
    const rewrites = { '^nothing': 'a', '^rancher': 'rancher', '^rancher/': 'b/', img: 'c' };
    expect(rewrite(NAME, rewrites)).toEqual({ repository: 'b/some-img.v1', pattern: '^rancher/' });
  });

  it.each([
    ['(?=rancher)', '"(?=r"'],
    ['(?!a)', '"(?!a"'],
    ['(?<=a)', '"(?<="'],
    ['(a)\\1', '"\\\\1"'],
    ['\\Z', '"\\\\Z"'],
    ['\\C', '"\\\\C"'],
    ['[[:^alpha:]]', '"[:^alpha:]"'],
    ['[[:other:]]', '"[:other:]"'],
    ['[a', '"["'],
    ['\\p{Other}', '"\\\\p{Other}"'],
    ['(a', '"(a"'],
    ['a**', '"a**"'],
    ['(?Px)', '"(?Px"'],
  ])('%s is refused, and its part named: %s', (pattern, part) => {
    expect(() => rewrite(NAME, { [pattern]: 'x' })).toThrow(
      `found ${part}, which cannot be used here; wanted a regular expression of Go's`,
    );
  });

  it.each(['../x', 'UPPER', 'a//b', ''])(
    'that makes %j no name of a repository is refused',
    (to) => {
      expect(() => rewrite(NAME, { '.*': to })).toThrow('wanted the name of a repository');
    },
  );
});
