import { parseListenAddress } from './listen-address.js';

describe('an address to listen on', () => {
  it.each([
    ['127.0.0.1:9797', { host: '127.0.0.1', port: 9797, isLoopback: true }],
    ['127.9.9.9:1', { host: '127.9.9.9', port: 1, isLoopback: true }],
    ['[::1]:0', { host: '::1', port: 0, isLoopback: true }],
    ['[0:0:0:0:0:0:0:1]:80', { host: '0:0:0:0:0:0:0:1', port: 80, isLoopback: true }],
    ['0.0.0.0:9797', { host: '0.0.0.0', port: 9797, isLoopback: false }],
    ['[::]:9797', { host: '::', port: 9797, isLoopback: false }],
    ['10.0.0.7:9797', { host: '10.0.0.7', port: 9797, isLoopback: false }],
  ])('%s is read', (text, address) => {
    expect(parseListenAddress(text)).toEqual(address);
  });

  it.each([
    '',
    '9797',
    ':9797',
    'localhost:9797',
    '127.0.0.1',
    '127.0.0.1:',
    '127.0.0.1:65536',
    '127.0.0.1:9797 ',
    '[127.0.0.1]:80',
    '::1:80',
    '[fe80::1%eth0]:80',
    '127.1:80',
    '0177.0.0.1:80',
    '127.0.0.1:9797/x',
    'http://127.0.0.1:9797',
  ])('%p is none', (text) => {
    expect(parseListenAddress(text)).toBeUndefined();
  });
});
