import { setTimeout as delay } from 'node:timers/promises';
import type { Kernel } from '../../kernel/feature.js';
import { network } from './feature.js';
import { wantsNothing } from './network-settings.js';

/** Limited, so that a network fault cannot block the daemon. */
const WITHIN_MS = 15_000;
const LOOK_EVERY_MS = 50;

/**
 * Resolves once the host network has the desired state, or after 15 s. Does not wait for the sources that report other hosts, because they run in
 * containers that an agent starts later.
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
