import { NetError } from '../net-error.js';
import { proxyOf } from './proxy-of.js';

const PROXY = 'http://proxy:3128';

function proxyFor(server: string, noProxy: string): string | undefined {
  return proxyOf(new URL(server), { HTTPS_PROXY: PROXY, NO_PROXY: noProxy });
}

describe('the proxy that leads to a server', () => {
  it.each([
    ['https://rancher.example', ''],
    ['https://rancher.example', 'other.example,cher.example'],
    ['https://rancher.example', '.rancher.example'],
    ['https://rancher.example', 'rancher.example:8443'],
    ['https://rancher.example', ' , ,'],
    ['https://10.1.2.3', '10.2.0.0/16,192.168.0.0/16,::/0'],
    ['https://[2001:db8::1]:6443', '2001:db8::2,[2001:db8::1]:443'],
    ['https://myrancher.example', 'rancher.example'],
    ['https://11.1.2.3', '10.0.0.0/8,10.0.0.0/99,x/8,fd00::/8'],
    ['https://10.1.2.3', '10.1.2.3:5000'],
  ])('to %s is used with NO_PROXY=%s', (server, noProxy) => {
    expect(proxyFor(server, noProxy)).toBe(PROXY);
  });

  it.each([
    ['https://rancher.example', '*'],
    ['https://rancher.example', 'rancher.example'],
    ['https://rancher.example.', 'RANCHER.example'],
    ['https://rancher.example', 'a, .example'],
    ['https://rancher.example', '*.example'],
    ['https://rancher.example', 'example'],
    ['https://rancher.example:8443', 'rancher.example:8443'],
    ['https://10.1.2.3', '127.0.0.0/8,10.0.0.0/8'],
    ['https://10.1.2.3:6443', '10.1.2.3:6443'],
    ['https://[2001:db8::1]:6443', '2001:db8::/32'],
    ['https://[2001:db8::1]:6443', '[2001:db8::1]:6443'],
    ['https://127.0.0.1:6443', ''],
    ['https://[::1]:6443', ''],
    ['https://localhost', ''],
    ['http://127.0.0.1', ''],
    ['ftp://rancher.example', ''],
    ['https://10.1.2.3:5000', '10.1.2.3'],
    ['https://[fd00::1]', 'fd00::1'],
    ['https://a.rancher.example', 'x, Rancher.Example'],
  ])('to %s is not used with NO_PROXY=%s', (server, noProxy) => {
    expect(proxyFor(server, noProxy)).toBeUndefined();
  });

  it.each([
    [{ https_proxy: 'proxy:3128' }, PROXY],
    [{ HTTPS_PROXY: 'https://proxy' }, 'https://proxy'],
    [{ HTTPS_PROXY: PROXY, https_proxy: 'http://other' }, PROXY],
    [{ HTTP_PROXY: PROXY, ALL_PROXY: PROXY }, undefined],
    [{ https_proxy: PROXY, no_proxy: 'rancher.example' }, undefined],
    [{ HTTPS_PROXY: '' }, undefined],
  ])('is, for %j, %s', (environment, expected) => {
    expect(proxyOf(new URL('https://rancher.example'), environment)).toBe(expected);
  });

  it.each([
    [{ HTTP_PROXY: PROXY }, PROXY],
    [{ http_proxy: 'proxy:3128' }, PROXY],
    [{ HTTPS_PROXY: PROXY }, undefined],
    [{ HTTP_PROXY: PROXY, NO_PROXY: 'rancher.example:80' }, undefined],
    [{ HTTP_PROXY: PROXY, NO_PROXY: 'rancher.example:443' }, PROXY],
  ])('of a server without TLS is, for %j, %s', (environment, expected) => {
    expect(proxyOf(new URL('http://rancher.example'), environment)).toBe(expected);
  });

  it('is refused by the name of the variable as it is spelled', () => {
    const action = () => proxyOf(new URL('https://rancher.example'), { https_proxy: 'socks5://x' });
    expect(action).toThrow(NetError);
    expect(action).toThrow(/^cannot use https_proxy: /);
  });

  it.each(['socks5://user:canary@proxy', 'http://', 'file:///etc/shadow'])(
    'is refused as %s, without its password',
    (proxy) => {
      const action = () => proxyOf(new URL('https://rancher.example'), { HTTPS_PROXY: proxy });
      expect(action).toThrow(/^cannot use HTTPS_PROXY: it is not an http/);
      expect(action).not.toThrow(/canary/);
    },
  );
});
