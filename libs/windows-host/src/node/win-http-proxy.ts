import { call, inPromise } from '../win32/calls/call.js';
import { loadKoffi, systemLibrary } from '../win32/calls/system-library.js';
import { kernel32 } from '../win32/kernel32.js';
import { WINHTTP_PROXY_INFO } from '../win32/structures.js';
import { refused, type NodeStore } from './node-store.js';

/** The proxy of WinHTTP, `host:port`, and the destinations that bypass it. */
export interface WinHttpProxyState {
  readonly proxy: string;
  readonly bypass: string;
}

/** https://learn.microsoft.com/windows/win32/api/winhttp */
const winHttp = systemLibrary('winhttp.dll', 'Windows', [
  'int WinHttpGetDefaultProxyConfiguration(void *info)',
  'int WinHttpSetDefaultProxyConfiguration(void *info)',
]);

const NO_PROXY = 1;
const NAMED_PROXY = 3;

/** Refuses a proxy with credentials, because all users can read the setting. */
export function winHttpProxy(): NodeStore<object, WinHttpProxyState> {
  return {
    read: () =>
      inPromise(() => {
        const info = WINHTTP_PROXY_INFO.create({});
        call('cannot read the proxy of WinHTTP', winHttp.WinHttpGetDefaultProxyConfiguration, info);
        const { dwAccessType, lpszProxy, lpszProxyBypass } = WINHTTP_PROXY_INFO.read(info);
        const [proxy, bypass] = [takeText(lpszProxy), takeText(lpszProxyBypass)];
        const isNamed = dwAccessType === NAMED_PROXY && proxy !== '';
        return isNamed ? { proxy, bypass } : undefined;
      }),
    write: (_item, state) =>
      inPromise(() => {
        const tried = 'cannot set the proxy of WinHTTP';
        const { proxy = '', bypass = '' } = state ?? {};
        if (`${proxy}${bypass}`.includes('\0')) throw refused(tried, 'NUL in it');
        if (proxy.includes('@')) throw refused(tried, 'a name or password in it');
        const head = WINHTTP_PROXY_INFO.create({ dwAccessType: NO_PROXY });
        const texts = [proxy, bypass].map((text) => Buffer.from(`${text}\0`, 'utf16le'));
        const info = Buffer.concat([head, ...texts]);
        if (state !== undefined) {
          const lpszProxy = loadKoffi().address(info) + BigInt(head.length);
          const lpszProxyBypass = bypass === '' ? null : lpszProxy + BigInt(texts[0]?.length ?? 0);
          const dwAccessType = NAMED_PROXY;
          WINHTTP_PROXY_INFO.write(info, { dwAccessType, lpszProxy, lpszProxyBypass });
        }
        call(tried, winHttp.WinHttpSetDefaultProxyConfiguration, info);
      }),
  };
}

function takeText(text: bigint | null): string {
  if (text === null) return '';
  const copy = loadKoffi().decode(text, 'char16_t', -1) as string;
  kernel32.GlobalFree(text);
  return copy;
}
