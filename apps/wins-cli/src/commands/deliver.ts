import { escapeText, EXIT, type CommandSurroundings } from '@wins/wins-program';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { deliverFile } from '../delivery/deliver-file.js';
import { showProgress } from '../progress.js';

export interface DeliverOptions {
  readonly from: string;
  readonly to: string;
  readonly sha256?: string | undefined;
  readonly 'wait-timeout': number;
  readonly settle: number;
  readonly quiet: boolean;
}

const SHOW_AFTER_MS = 1000;

/** `wins cli deliver`: brings one file from the container to a folder of the host that is mounted here. */
export async function deliver(
  options: DeliverOptions,
  { show }: CommandSurroundings,
): Promise<number> {
  const to = path.resolve(options.to);
  const { quiet } = options;
  using delivering = showProgress(`delivering ${to}`, { afterMs: SHOW_AFTER_MS, quiet });
  const { changed, sha256 } = await deliverFile({
    from: path.resolve(options.from),
    to,
    sha256: options.sha256,
    waitTimeoutMs: options['wait-timeout'],
  });
  delivering[Symbol.dispose]();
  const what = changed ? 'delivered' : 'unchanged';
  await show({
    value: { path: to, changed, sha256 },
    text: `wins: ${what}: ${escapeText(to)} ${sha256}\n`,
    names: [to],
  });
  if (!changed || options.settle === 0) return EXIT.client.ok;
  using _settling = showProgress('waiting for --settle', { afterMs: SHOW_AFTER_MS, quiet });
  await delay(options.settle);
  return EXIT.client.ok;
}
