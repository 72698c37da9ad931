import { hasUser, toldAddress } from '../index.js';

it.each([
  ['https://host/?signature=x', false],
  ['https://user@host', true],
  ['https://:password@host', true],
])('%s has a user or password: %s', (text, isSo) => {
  expect(hasUser(new URL(text))).toBe(isSo);
});

it.each([
  ['https://me:secret@host:8443/a/b?sig=secret#secret', 'https://host:8443/a/b'],
  ['http://host', 'http://host/'],
  ['no address', ''],
])('of %s tells nothing that may be a secret', (text, told) => {
  expect(toldAddress(text)).toBe(told);
});
