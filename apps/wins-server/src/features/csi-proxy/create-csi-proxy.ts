import type { CsiProxy, CsiProxyOptions } from './csi-proxy.js';
import { Keeper } from './keeper.js';
import type { CsiProxyWish } from './settings/judge-settings.js';

/**
 * Begins to keep csi-proxy on this node: looks what is there, fetches, installs, upgrades, starts or removes it as it is wanted, and looks again
 * once a minute. The caller closes it.
 *
 * @param wish - Undefined: nothing is wanted, and what this library has installed is taken away.
 */
export function createCsiProxy(options: CsiProxyOptions, wish: CsiProxyWish | undefined): CsiProxy {
  return new Keeper(options, wish);
}
