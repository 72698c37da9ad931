import { escapeText, EXIT, UsageError, type CommandSurroundings } from '@wins/base';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { CommandError } from '../command-error.js';
import type { DeliveredConfigs } from '../delivery/delivered-configs.js';
import { deliverFile } from '../delivery/deliver-file.js';
import { showProgress } from '../progress.js';

export interface DeliverOptions {
  readonly from: string;
  readonly to: string;
  readonly sha256?: string | undefined;
  /** Merges the keys of `from` into the node's config. */
  readonly merge: boolean;
  /** The node's current config, used while there is no file at `to`. */
  readonly base?: string | undefined;
  readonly 'allow-drop': readonly string[];
  readonly configs: () => DeliveredConfigs;
  readonly 'wait-timeout': number;
  readonly settle: number;
  readonly quiet: boolean;
}

const SHOW_AFTER_MS = 1000;

export async function deliver(options: DeliverOptions, { show }: CommandSurroundings) {
  const [from, to] = [path.resolve(options.from), path.resolve(options.to)];
  const base = options.base === undefined ? undefined : path.resolve(options.base);
  const { quiet, merge, configs, sha256: pinned, 'allow-drop': allowDrop } = options;
  if (merge && pinned !== undefined)
    throw new UsageError(
      '--sha256 cannot be combined with --merge: the merged file differs on each node',
    );
  using delivering = showProgress(`delivering ${to}`, { afterMs: SHOW_AFTER_MS, quiet });
  // Without `--merge`, a delivery needs no check if neither file exists: no keys can be dropped.
  const isFirst = !merge && ![to, base ?? to].some((file) => existsSync(file));
  const judged = isFirst
    ? undefined
    : await configs().judgeDelivery({ from, to, base, merge, allowDrop });
  if (judged?.kind === 'refused') {
    const found = `cannot deliver ${from} to ${to}: ${judged.reason}`;
    throw new CommandError(found, EXIT.client.refused);
  }
  const { merged: content, kept = [], isConfig = false, replaces } = judged ?? {};
  const { changed, sha256 } = await deliverFile({
    from,
    to,
    content,
    sha256: pinned,
    waitTimeoutMs: options['wait-timeout'],
    ...((merge || replaces !== undefined) && { decidedFor: { sha256: replaces } }),
    permit:
      isFirst && allowDrop.length === 0
        ? undefined
        : (digest) => configs().permitDrops(to, digest, allowDrop),
    // Keeps a copy of the old config: after a rollback, a Go daemon that refuses the new config starts with the copy.
    beforeReplace: isConfig ? () => configs().keepReplaced(to) : undefined,
  });
  delivering[Symbol.dispose]();
  const what = changed ? 'delivered' : 'unchanged';
  const stays = kept.length === 0 ? '' : `; unchanged: ${kept.join(', ')}`;
  await show({
    value: { path: to, changed, sha256, ...(merge && { kept }) },
    text: `wins: ${what}: ${escapeText(to)} ${sha256}${escapeText(stays)}\n`,
    names: [to],
  });
  if (!changed || options.settle === 0) return EXIT.client.ok;
  using _settling = showProgress('waiting for --settle', { afterMs: SHOW_AFTER_MS, quiet });
  await delay(options.settle);
  return EXIT.client.ok;
}
