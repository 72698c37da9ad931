import { completeSettings } from './http-settings.js';

describe('the secret of a proxy', () => {
  const secretsOf = (address: string): readonly string[] =>
    completeSettings({ environment: { HTTPS_PROXY: address } }).secrets;

  it.each(['http://rancher@proxy:3128', 'rancher@proxy:3128', 'http://proxy:3128', 'proxy:3128'])(
    'is none where there is no password: %s',
    (address) => expect(secretsOf(address)).toEqual([]),
  );

  it.each(['http://rancher:pass@proxy:3128', 'rancher:pass@proxy:3128', 'HTTP://:pass@proxy'])(
    'is its password, as it is and as it is sent: %s',
    (address) => expect(secretsOf(address)).toContain('pass'),
  );
});
