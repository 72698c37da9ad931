/** Entry point of the csi-proxy bundle, for configs that have, or had, a csi-proxy section. */
import type { CsiProxyNode } from './csi-proxy-system.js';
import { Keeper, type KeeperOptions } from './keeper.js';
import type { DesiredCsiProxy } from './settings/judge-settings.js';

/**
 * The caller closes the keeper.
 *
 * @param node - Passed by the caller, because this bundle has its own copy of `csiProxySystem`. Default: Windows.
 */
export async function startCsiProxy(
  options: Omit<KeeperOptions, 'node'>,
  desired: DesiredCsiProxy | undefined,
  node?: CsiProxyNode,
): Promise<Keeper> {
  const system = node ?? (await import('./windows-csi-node.js')).windowsCsiNode();
  return new Keeper({ ...options, node: system }, desired);
}
