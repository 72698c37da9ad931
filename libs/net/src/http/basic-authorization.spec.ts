import { basicAuthorization } from './basic-authorization.js';

describe('the header for the user and the password of a URL', () => {
  it.each([
    ['http://user:word@a.example', 'user:word'],
    ['http://user@a.example', 'user:'],
    ['http://:word@a.example', ':word'],
    ['http://us%3Aer:w%C3%B6rd@a.example', 'us:er:wörd'],
    ['http://100%:%zz@a.example', '100%:%zz'],
  ])('of %s is Basic, decoded where it can be', (url, text) => {
    const encoded = Buffer.from(text, 'utf8').toString('base64');
    expect(basicAuthorization(new URL(url))).toBe(`Basic ${encoded}`);
  });

  it('is not there for a URL with neither', () => {
    expect(basicAuthorization(new URL('http://a.example'))).toBeUndefined();
  });
});
