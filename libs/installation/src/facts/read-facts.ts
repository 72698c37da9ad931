import { readCertificates } from '@wins/net';
import { messageOf } from '@wins/base';
import { existsSync } from 'node:fs';
import { InstallError } from '../install-error.js';
import {
  itemId,
  itemName,
  type Item,
  type StateOf,
  ancestorsOf,
  folderOf,
  folderOfItem,
} from '../item/item.js';
import { InstallFiles, readBytesIfThere, readIfThere } from '../journal/install-files.js';
import { readItem, type InstallContext } from '../install-context.js';
import type { NodeHost } from '../ports.js';
import { itemsOfInstallation, type DesiredInstallation } from '../desired/desired-installation.js';
import {
  isListAlone,
  distrustOf,
  type FolderFacts,
  type ItemFacts,
  type NodeFacts,
} from './node-facts.js';

/**
 * Reads the parts of the node that a plan for `desired` needs.
 * @throws InstallError `unreadable` for an invalid manifest; `refused` when the manifest is not trusted, or an item cannot be
 * inspected.
 */
export async function readFacts(
  context: InstallContext<NodeHost>,
  desired: DesiredInstallation,
  loaded?: ReadonlyMap<string, string>,
): Promise<NodeFacts> {
  const { host } = context;
  const { paths, service: name } = desired;
  const manifest = await new InstallFiles(context).readManifest();
  const service = await host.stores.service.read({ kind: 'service', name });
  const program = service && host.programOf(service.command);
  const own = [paths.configFolder, paths.dataFolder, paths.programFolder];
  const folders = [
    ...own,
    ...paths.morePathElements,
    ...(program === undefined ? [] : [folderOf(program, host.platform)]),
  ];
  // Without a manifest, files that the Go release installed may be adopted.
  const ofGo = manifest === undefined && service !== undefined ? paths.filesOfGo : [];
  const items = [
    ...itemsOfInstallation(desired, program),
    ...[...own, ...paths.morePathElements]
      .flatMap((folder) => ancestorsOf(folder, host.platform))
      .map((path): Item => ({ kind: 'folder', path })),
    ...readCertificates(desired.authorities ?? '', 'the authorities').certificates.map(
      ({ sha256 }): Item => ({ kind: 'certificate', sha256 }),
    ),
    ...ofGo.map((path): Item => ({ kind: 'file', path })),
  ];
  const found = await readItems(context, items, folders);
  const judged: [string, FolderFacts][] = [];
  for (const file of [paths.config, paths.nodeId]) {
    const distrust = distrustOf(() => host.trust.distrustOfFile(file));
    if (distrust?.path === file) judged.push([file, { distrust, strangers: [] }]);
  }
  const isSafe = program && existsSync(program) && !host.trust.distrustOfFile(program);
  const version = isSafe ? await host.versionOf(program) : undefined;
  return {
    ...found,
    folders: new Map([...found.folders, ...judged]),
    loaded,
    isServiceBeingRemoved: await host.isBeingRemoved(name),
    program: program === undefined ? undefined : { path: program, version },
    config: await readBytesIfThere(paths.config),
    nodeId: await readIfThere(paths.nodeId),
  };
}

/**
 * Reads the manifest, the states of its items and of `items`, and who may write to `folders` and to the folders of the manifest's items.
 *
 * @throws InstallError as {@link readFacts}.
 */
export async function readItems(
  context: InstallContext,
  items: readonly Item[],
  folders: readonly string[] = [],
): Promise<ItemFacts> {
  const { platform } = context.host;
  const manifest = await new InstallFiles(context).readManifest();
  const recorded = (manifest?.entries ?? []).map(({ item }) => item);
  const states = new Map<string, StateOf>();
  for (const item of [...items, ...recorded]) {
    const id = itemId(item);
    const state = states.has(id) ? undefined : await look(context, item);
    if (state !== undefined) states.set(id, state);
  }
  const judged = new Map<string, FolderFacts>();
  for (const folder of [...folders, ...recorded.map((item) => folderOfItem(item, platform))])
    if (folder !== undefined && !judged.has(folder))
      judged.set(folder, await judge(context, folder));
  return { platform, states, folders: judged, manifest };
}

async function look({ host }: InstallContext, item: Item): Promise<StateOf | undefined> {
  try {
    return await readItem(host, item);
  } catch (error) {
    const message = `cannot inspect ${itemName(item)}: ${messageOf(error)}`;
    throw new InstallError('refused', message, { cause: error });
  }
}

async function judge({ host }: InstallContext, folder: string): Promise<FolderFacts> {
  const distrust = distrustOf(() => host.trust.distrustOfFolder(folder));
  const strangers = distrust && isListAlone(distrust, folder) ? await host.strangersIn(folder) : [];
  return { distrust, strangers };
}
