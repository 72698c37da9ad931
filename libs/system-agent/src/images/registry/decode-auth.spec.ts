import { decodeAuth } from './decode-auth.js';

const base64 = (text: string | Buffer) => Buffer.from(text).toString('base64');

describe('auth is a login if it is base64 of name:password:', () => {
  it.each([
    ['with padding', base64('u:pw'), 'u', 'pw'],
    ['with padding of two characters', base64('u:passw'), 'u', 'passw'],
    ['without its padding', base64('u:pw').replaceAll('=', ''), 'u', 'pw'],
    ['with line ends', `dTpw\r\nYXNz\nd29y\nZA==\n`, 'u', 'password'],
    ['with + and /', base64('u:\u00fb\u00ff?~\u07ff'), 'u', '\u00fb\u00ff?~\u07ff'],
    ['with a colon in the password', base64('u:a:b'), 'u', 'a:b'],
    ['with an empty password', base64('u:'), 'u', ''],
    ['with NUL bytes around the password', base64('u:\0pw\0\0'), 'u', 'pw'],
  ])('%s', (_title, auth, username, password) => {
    expect(decodeAuth(auth)).toEqual({ username, password });
  });

  it.each([
    ['a token', 'ghp_16C7e42F292c6912E7710c838347Ae178B4a'],
    ['text of name and password', 'u:p'],
    ['base64 without a colon', base64('onlytoken')],
    ['an empty name', base64(':password')],
    ['only a colon', base64(':')],
    ['the alphabet for addresses', base64('u:\u07ff?>~~').replace('+', '-').replace('/', '_')],
    ['a part of its padding', base64('u:passw').slice(0, -1)],
    ['too much padding', `${base64('u:p')}====`],
    ['padding within', `${base64('u:pw')}${base64('u:pw')}`],
    ['a single last character', `${base64('u:p')}A`],
    ['blanks', `${base64('u:pw')} `],
    ['bytes that are no UTF-8', base64(Buffer.from('u:\xe9', 'latin1'))],
    ['only a line end', '\n'],
  ])('%s is none', (_title, auth) => {
    expect(decodeAuth(auth)).toBeUndefined();
  });
});
