import { setTimeout as delay } from 'node:timers/promises';
import type { Kernel } from '../../kernel/feature.js';
import { network } from './feature.js';
import { wantsNothing } from './network-settings.js';

/** So long a service may be starting for its network: a fault in it must not keep the daemon from being there. */
const WITHIN_MS = 15_000;
const LOOK_EVERY_MS = 50;

/**
 * Resolves once the network of the host is as the config wants it, after 15 s at the latest, and at once where nothing is wanted. Sources of
 * other hosts are not waited for: they run in containers that an agent starts after this.
 */
export async function networkStands(
  kernel: Pick<Kernel, 'of'>,
  ended: Promise<unknown>,
  withinMs = WITHIN_MS,
): Promise<void> {
  const view = kernel.of(network);
  const { settings } = view;
  if (settings === undefined || wantsNothing(settings)) return;
  const over = new AbortController();
  const { signal } = over;
  const late = AbortSignal.any([signal, AbortSignal.timeout(withinMs)]);
  const end = (): void => over.abort();
  ended.then(end, end);
  while (!late.aborted && view.running?.kept.status.kind !== 'settled')
    await delay(LOOK_EVERY_MS, undefined, { signal: late }).catch(() => undefined);
}
