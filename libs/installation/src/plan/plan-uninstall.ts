import { isListAlone, stateIn, type ItemFacts } from '../facts/node-facts.js';
import { itemId, itemName, type Item, type StateOf, folderOfItem } from '../item/item.js';
import { contentOf, isSameState, stepOf, type Step } from '../item/step.js';
import { RKE2_SERVICE } from '../desired/desired-installation.js';
import { refuse, type KeptItem, type Refusal, type UninstallPlan } from './plan.js';
import { refuseFolder } from './refuse-install.js';

/** Selects the items that an uninstallation removes. */
export interface UninstallSettings {
  readonly service: string;
  /** True to keep folders with data, and their content. Default: false. */
  readonly keepsData?: boolean | undefined;
  /** True to also remove items that were changed after the installation, and items that existed before it with other content. */
  readonly isForced?: boolean | undefined;
  readonly programs: readonly string[];
  /** Items that stay, by `itemId`. Default: none. */
  readonly wanted?: ReadonlySet<string> | undefined;
}

/** Plans the removal of the items in the manifest. Pure; an item whose state has changed since stays, unless `isForced`. */
export function planUninstall(facts: ItemFacts, settings: UninstallSettings): UninstallPlan {
  const { manifest } = facts;
  const { service, wanted } = settings;
  const isThere = stateIn(facts, { kind: 'service', name: service }) !== undefined;
  if (manifest === undefined) {
    if (!isThere) return { kind: 'nothing', reason: 'nothing is installed' };
    const next = '--adopt creates one from the items at the known paths';
    return refuse(`the service ${service} exists, but has no manifest; ${next}`);
  }
  if (stateIn(facts, { kind: 'running', service: RKE2_SERVICE }) !== undefined) {
    const next = 'stop it, or remove it first';
    return refuse(`the service ${RKE2_SERVICE} is running and depends on wins; ${next}`);
  }
  const untrusted = refuseWayThere(facts);
  if (untrusted !== undefined) return untrusted;
  const kept: KeptItem[] = [];
  const steps: Step[] = [];
  const link = { kind: 'dependency', service: RKE2_SERVICE, on: service } as const;
  const isLinked = isThere && stateIn(facts, link) !== undefined;
  // Unlink the two services first: RKE2 would never start again if it still depended on a removed service.
  if (isLinked) steps.push(stepOf(link, 'present', undefined));
  const running = { kind: 'running', service } as const;
  const changed = manifest.entries.filter(({ from, to }) => !isSameState(from, to));
  const isOurs = changed.some(
    ({ item }) =>
      item.kind === 'service' && item.name === service && wanted?.has(itemId(item)) !== true,
  );
  if (isOurs && stateIn(facts, running) !== undefined)
    steps.push(stepOf(running, 'present', undefined));
  const isService = ({ item }: Step): number => Number(item.kind === 'service');
  const entries = changed.toReversed().sort((a, b) => isService(b) - isService(a));
  for (const entry of entries) {
    const { item } = entry;
    const now = facts.states.get(itemId(item));
    if (isLinked && itemId(item) === itemId(link)) continue;
    // Removing a service also removes its environment.
    if (item.kind === 'variable' && isOurs && item.service === service) continue;
    if (now === undefined || isSameState(now, entry.from)) continue;
    const reason = reasonToKeep(entry, now, settings) ?? reasonOfFolder(item, kept);
    // Restore the earlier state. If that state had content, remove the item instead, because the manifest contains only a
    // digest of the content.
    const earlier = contentOf(item, entry.from) === undefined ? entry.from : undefined;
    if (reason === undefined) steps.push(stepOf(item, now, earlier));
    else kept.push({ entry, reason });
  }
  if (steps.length > 0 || kept.length === 0) return { kind: 'uninstall', steps, kept };
  const rest = kept.map(({ entry, reason: why }) => `${itemName(entry.item)} (${why})`).join(', ');
  return { kind: 'nothing', reason: `the rest stays: ${rest}; --force removes it` };
}

/** Refuses if untrusted accounts could have redirected a recorded path to files of other programs. */
function refuseWayThere({ manifest, folders, platform }: ItemFacts): Refusal | undefined {
  for (const { item } of manifest?.entries ?? []) {
    const folder = folderOfItem(item, platform) ?? '';
    const found = folders.get(folder);
    if (found?.distrust !== undefined && !isListAlone(found.distrust, folder))
      return refuseFolder(folder, found);
  }
  return undefined;
}

function reasonToKeep(
  { item, from, to }: Step,
  now: StateOf,
  { keepsData, isForced, programs, wanted }: UninstallSettings,
): string | undefined {
  if (wanted?.has(itemId(item)) === true) return 'it is still wanted';
  const isProgram = item.kind === 'file' && programs.includes(item.path);
  const isData = item.kind === 'file' || item.kind === 'folder';
  if (keepsData === true && isData && !isProgram) return 'data is kept';
  if (isForced === true) return undefined;
  if (contentOf(item, from) !== undefined) return 'it existed before, with other content';
  if (isProgram || item.kind === 'service' || item.kind === 'folder') return undefined;
  // Compare only the content: a file whose permissions alone were changed still belongs to wins.
  const digest = contentOf(item, to);
  const isSame = digest === undefined ? isSameState(now, to) : contentOf(item, now) === digest;
  return isSame ? undefined : 'it was changed after the installation';
}

/** A folder stays if an item in it stays. `kept` already contains such items, because files are checked before their folders. */
function reasonOfFolder({ kind, ...item }: Item, kept: readonly KeptItem[]): string | undefined {
  if (kind !== 'folder' || !('path' in item)) return undefined;
  const isBelow = kept.some(
    ({ entry }) =>
      'path' in entry.item &&
      entry.item.kind !== 'pathElement' &&
      /^[\\/]/.test(entry.item.path.slice(item.path.length)) &&
      entry.item.path.startsWith(item.path),
  );
  return isBelow ? 'it contains items that stay' : undefined;
}
