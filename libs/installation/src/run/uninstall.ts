import { messageOf, quoteText, reporter } from '@wins/base';
import { distrustOf, isListAlone } from '../facts/node-facts.js';
import { InstallError } from '../install-error.js';
import { itemId, type Item, folderOfItem } from '../item/item.js';
import type { Step } from '../item/step.js';
import { InstallFiles } from '../journal/install-files.js';
import type { KeptItem, UninstallPlan } from '../plan/plan.js';
import { isNotEmpty, writeItem, type InstallContext } from '../install-context.js';

/** Items that an uninstallation left, by decision (`kept`) or because removing them failed. */
export interface UninstallReport {
  readonly kept: readonly KeptItem[];
  readonly failed: readonly KeptItem[];
}

/** Continues after a failed item, unless the item is the service. The manifest serves as the journal for the next attempt. */
export async function uninstall(
  context: InstallContext,
  plan: Extract<UninstallPlan, { kind: 'uninstall' }>,
): Promise<UninstallReport> {
  const kept: KeptItem[] = [...plan.kept];
  const failed: KeptItem[] = [];
  const full: Step[] = [];
  for (const step of plan.steps) {
    try {
      requireNoDetour(context, step.item);
      await writeItem(context, step.item, step.to, undefined);
      reporter(context.onStep)(step);
    } catch (error) {
      if (step.item.kind === 'folder' && isNotEmpty(error)) {
        full.push(step);
        kept.push({ entry: step, reason: 'there are other files in it' });
      } else failed.push({ entry: step, reason: messageOf(error) });
      // While the service or its process remains, nothing else can be removed.
      if (step.item.kind === 'running' || step.item.kind === 'service') break;
    }
  }
  const files = new InstallFiles(context);
  const manifest = await files.readManifest();
  const remaining = new Set([...plan.kept, ...failed].map(({ entry }) => itemId(entry.item)));
  const isStopped = failed.some(({ entry }) => ['running', 'service'].includes(entry.item.kind));
  if (remaining.size === 0 || manifest === undefined) {
    await files.writeManifest(undefined);
    await files.removeFolder();
  } else if (!isStopped) {
    for (const { item } of full) remaining.add(itemId(item));
    const entries = manifest.entries.filter(({ item }) => remaining.has(itemId(item)));
    await files.writeManifest({ ...manifest, entries });
  }
  return { kept, failed };
}

/** Refuses a path that others may have redirected by a link while the service was stopped. */
function requireNoDetour({ host }: InstallContext, item: Item): void {
  const folder = folderOfItem(item, host.platform);
  if (folder === undefined) return;
  const distrust = distrustOf(() => host.trust.distrustOfFolder(folder));
  if (distrust === undefined || isListAlone(distrust, folder)) return;
  const { path, found } = distrust;
  throw new InstallError('changed', `others could redirect it: ${quoteText(path)}: ${found}`);
}
