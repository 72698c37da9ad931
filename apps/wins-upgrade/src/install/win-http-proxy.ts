import type { EnvironmentSettings, WinHttpProxy } from '@wins/installation';

/** Returns the proxy without user and password, because every program on the machine can read the setting. */
export function winHttpProxyOf(proxies: EnvironmentSettings['proxies']): WinHttpProxy | undefined {
  const text = (proxies['HTTPS_PROXY'] ?? proxies['HTTP_PROXY'])?.reveal();
  const url = text && (/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`);
  if (!url || !URL.canParse(url)) return undefined;
  const { hostname, port, protocol } = new URL(url);
  const bypass = proxies['NO_PROXY']?.reveal().split(',') ?? [];
  return {
    proxy: `${hostname}:${port || (protocol === 'https:' ? '443' : '80')}`,
    bypass: bypass
      .map((each) => each.trim().replace(/^\./, '*.'))
      .filter(Boolean)
      .join(';'),
  };
}
