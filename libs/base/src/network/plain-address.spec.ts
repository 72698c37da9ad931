import { hasUser, isPlainAddress, toldAddress } from '../index.js';

describe('an address that may be told', () => {
  it.each(['http://127.0.0.1:4318', 'https://host', 'https://[::1]:1/a/b'])('is %s', (text) => {
    expect(isPlainAddress(text)).toBe(true);
  });

  it.each([
    'http://user@host',
    'http://:password@host',
    'http://host/?query',
    'http://host?',
    'http://host/#fragment',
    'http://host/a b',
    ' http://host',
    'http://host\n',
    'ftp://host',
    'host:4318',
    '//host',
    'nonsense',
    '',
    'http://u:password@host:99999',
  ])('is not %j', (text) => {
    expect(isPlainAddress(text)).toBe(false);
  });

  it.each([
    ['https://host/?signature=x', false],
    ['https://user@host', true],
    ['https://:password@host', true],
  ])('%s has a user or password: %s', (text, isSo) => {
    expect(hasUser(new URL(text))).toBe(isSo);
  });
});

it.each([
  ['https://me:secret@host:8443/a/b?sig=secret#secret', 'https://host:8443/a/b'],
  ['http://host', 'http://host/'],
  ['no address', ''],
])('of %s tells nothing that may be a secret', (text, told) => {
  expect(toldAddress(text)).toBe(told);
});
