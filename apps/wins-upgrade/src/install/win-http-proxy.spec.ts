import { Secret } from '@wins/installation';
import { winHttpProxyOf } from './win-http-proxy.js';

function proxyOf(values: Readonly<Record<string, string>>) {
  return winHttpProxyOf(
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, new Secret(value)])),
  );
}

describe('the proxy of WinHTTP', () => {
  it.each([
    [{ HTTPS_PROXY: 'http://user:canary@proxy:3128' }, { proxy: 'proxy:3128', bypass: '' }],
    [{ HTTPS_PROXY: 'http://us%40er:can:ary@proxy:3128/' }, { proxy: 'proxy:3128', bypass: '' }],
    [{ HTTPS_PROXY: 'user:canary@proxy:3128' }, { proxy: 'proxy:3128', bypass: '' }],
    [{ HTTP_PROXY: 'http://proxy' }, { proxy: 'proxy:80', bypass: '' }],
    [{ HTTPS_PROXY: 'https://proxy' }, { proxy: 'proxy:443', bypass: '' }],
    [
      { HTTPS_PROXY: 'http://a:1', HTTP_PROXY: 'http://b:2' },
      { proxy: 'a:1', bypass: '' },
    ],
    [{ HTTPS_PROXY: 'http://[::1]:3128' }, { proxy: '[::1]:3128', bypass: '' }],
    [
      { HTTPS_PROXY: 'http://p:1', NO_PROXY: 'localhost, .example.com,10.0.0.0/8,' },
      { proxy: 'p:1', bypass: 'localhost;*.example.com;10.0.0.0/8' },
    ],
  ])('of %j has no user and no password', (values, wanted) => {
    expect(proxyOf(values)).toEqual(wanted);
  });

  it.each([[{}], [{ NO_PROXY: 'x' }], [{ HTTPS_PROXY: 'http://a b:canary@' }]])(
    'of %j is none',
    (values) => {
      expect(proxyOf(values)).toBeUndefined();
    },
  );
});
