import { check } from '../win32/kernel32.js';
import { PROXY_INFO_SIZE, winHttp } from '../win32/win-http.js';
import { refused } from './node-access.js';
import { settled, type NodeRoom } from './node-room.js';

/** The proxy of WinHTTP, `host:port`, and where it is not used. */
export interface WinHttpProxyState {
  readonly proxy: string;
  readonly bypass: string;
}

const NO_PROXY = 1;
const NAMED_PROXY = 3;

/** The proxy of WinHTTP for the whole machine. One with credentials is refused: all users can read it. */
export function winHttpProxy(): NodeRoom<object, WinHttpProxyState> {
  return {
    read: () =>
      settled(() => {
        const { WinHttpGetDefaultProxyConfiguration, textAt, GlobalFree } = winHttp();
        const info = Buffer.alloc(PROXY_INFO_SIZE);
        const isRead = WinHttpGetDefaultProxyConfiguration(info) !== 0;
        check(isRead, 'WinHttpGetDefaultProxyConfiguration', 'read the proxy of WinHTTP');
        const [proxy = '', bypass = ''] = [8, 16].map((at) => {
          const address = info.readBigUInt64LE(at);
          if (address === 0n) return '';
          const text = textAt(address);
          GlobalFree(address);
          return text;
        });
        const isNamed = info.readUInt32LE(0) === NAMED_PROXY && proxy !== '';
        return isNamed ? { proxy, bypass } : undefined;
      }),
    write: (_item, state) =>
      settled(() => {
        const tried = 'set the proxy of WinHTTP';
        const { proxy = '', bypass = '' } = state ?? {};
        if (`${proxy}${bypass}`.includes('\0')) throw refused(tried, 'NUL in it');
        if (proxy.includes('@')) throw refused(tried, 'a name or password in it');
        const { addressOf, WinHttpSetDefaultProxyConfiguration } = winHttp();
        const texts = [proxy, bypass].map((text) => Buffer.from(`${text}\0`, 'utf16le'));
        const info = Buffer.concat([Buffer.alloc(PROXY_INFO_SIZE), ...texts]);
        const [first = Buffer.alloc(0)] = texts;
        const base = addressOf(info) + BigInt(PROXY_INFO_SIZE);
        info.writeUInt32LE(state === undefined ? NO_PROXY : NAMED_PROXY, 0);
        if (state !== undefined) {
          info.writeBigUInt64LE(base, 8);
          if (bypass !== '') info.writeBigUInt64LE(base + BigInt(first.length), 16);
        }
        check(
          WinHttpSetDefaultProxyConfiguration(info) !== 0,
          'WinHttpSetDefaultProxyConfiguration',
          tried,
        );
      }),
  };
}
