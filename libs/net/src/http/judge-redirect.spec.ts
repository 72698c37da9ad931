import { judgeRedirect, securely, withinOrigin, type RedirectFacts } from './judge-redirect.js';

const facts: RedirectFacts = {
  from: new URL('https://one.example/a?b'),
  status: 302,
  location: '/c',
  count: 0,
  maxRedirects: 5,
  rule: securely,
  secrets: [],
};
const judge = (more: Partial<RedirectFacts>) => {
  const verdict = judgeRedirect({ ...facts, ...more });
  return verdict !== undefined && 'to' in verdict ? verdict.to.href : verdict?.found;
};

describe('a redirect', () => {
  it.each([
    [{ location: '/c' }, 'https://one.example/c'],
    [{ location: '/c', secrets: ['one', 'example'] }, 'https://one.example/c'],
    [{ location: 'd#e' }, 'https://one.example/d'],
    [{ location: 'https://two.example/' }, 'https://two.example/'],
    [{ location: '//two.example/' }, 'https://two.example/'],
    [{ rule: withinOrigin, location: 'https://one.example:443/c' }, 'https://one.example/c'],
    [
      { from: new URL('http://one.example'), location: 'http://two.example/' },
      'http://two.example/',
    ],
  ])('%j is followed', (more, to) => {
    expect(judge(more)).toBe(to);
  });

  it.each([[{ status: 200 }], [{ status: 304 }], [{ location: undefined }]])(
    'is not what %j means',
    (more) => {
      expect(judgeRedirect({ ...facts, ...more })).toBeUndefined();
    },
  );

  it.each([
    [{ location: 'http://one.example/' }, 'a redirect to "http://one.example"'],
    [
      { rule: withinOrigin, location: 'https://two.example/' },
      'a redirect to "https://two.example"',
    ],
    [
      { rule: withinOrigin, location: 'https://one.example:8443/' },
      'a redirect to "https://one.example:8443"',
    ],
    [{ rule: withinOrigin, location: '//two.example' }, 'a redirect to "https://two.example"'],
    [{ count: 5 }, 'one more redirect'],
    [{ location: 'file:///etc/shadow' }, 'a redirect without a web address'],
    [{ location: 'https://' }, 'a redirect without a web address'],
    [{ location: 'https://user@one.example/' }, 'a redirect to "https://one.example" with a user'],
    [
      { location: 'https://TOKENS-8.example/', secrets: ['Tokens-8'] },
      'a redirect to an address with a secret in it',
    ],
    [
      { location: '/?%74okens-8', secrets: ['Tokens-8'] },
      'a redirect to an address with a secret in it',
    ],
  ])('%j is refused', (more, found) => {
    expect(judge(more)).toBe(found);
  });
});
