import type { ConfigChanges } from '../desired/config-changes.js';
import { hash } from 'node:crypto';
import { readCertificates } from '@wins/net';
import { stateIn, type ItemFacts, type NodeFacts } from '../facts/node-facts.js';
import { itemId, type Item, type StateOf, ancestorsOf, folderOf } from '../item/item.js';
import { isSameState, stepOf, type Step, type Content } from '../item/step.js';
import {
  newService,
  RKE2_SERVICE,
  type DesiredInstallation,
} from '../desired/desired-installation.js';
import { dataFolders } from '../desired/install-paths.js';
import { isMendable, validNodeId } from './refuse-install.js';

/** Throws when the changes cannot be made. Implemented by `editConfig` of `@wins/config`. */
export type EditConfig = (config: Buffer, changes: ConfigChanges) => Buffer;

export class WantedItems {
  /** Steps that do not affect a running daemon. */
  readonly quiet: Step[] = [];
  /** Steps that run while the daemon is stopped. */
  readonly files: Step[] = [];
  readonly last: Step[] = [];
  readonly contents = new Map<string, Content>();
  disturbs = false;
  readonly #facts: ItemFacts;

  constructor(facts: ItemFacts) {
    this.#facts = facts;
  }

  want<I extends Item>(list: Step[], item: I, state: StateOf<I['kind']> | undefined): boolean {
    const to = state as StateOf | undefined;
    const from = this.#facts.states.get(itemId(item));
    if (isSameState(from, to)) return false;
    list.push(stepOf(item, from, to));
    return true;
  }

  /** `isRead` marks a file that the running daemon has read. */
  wantFile(path: string, content: Content | string, access: string, isRead: boolean): void {
    const to = { sha256: this.put(content), access };
    const isChanged = this.want(this.files, { kind: 'file', path }, to);
    if (isChanged && isRead) this.disturbs = true;
  }

  wantNoFile(path: string): void {
    this.want(this.files, { kind: 'file', path }, undefined);
  }

  put(content: Content | string, sha256?: string): string {
    const bytes = typeof content === 'string' ? Buffer.from(content) : content;
    const digest = sha256 ?? hash('sha256', bytes as Uint8Array, 'hex');
    this.contents.set(digest, bytes);
    return digest;
  }
}

/** Adds items that an installation changes and an update leaves alone. */
export function wantSurroundings(
  wanted: WantedItems,
  facts: NodeFacts,
  desired: DesiredInstallation,
): void {
  const { paths, service } = desired;
  const privateFolders = [paths.configFolder, paths.dataFolder, ...dataFolders(paths)];
  for (const folder of [...privateFolders, paths.programFolder]) {
    wantAncestors(wanted, facts, folder);
    const isData = dataFolders(paths).includes(folder);
    // The daemon itself creates and removes these folders as needed.
    if (isData && stateIn(facts, { kind: 'service', name: service }) !== undefined) continue;
    const item: Item<'folder'> = { kind: 'folder', path: folder, ...(isData && { isData }) };
    const isPrivate = privateFolders.includes(folder);
    const isFine = stateIn(facts, item) !== undefined && !isMendable(facts, folder);
    // A safe program folder stays as it is, because it may contain other programs.
    if (isPrivate || !isFine)
      wanted.want(wanted.quiet, item, { access: isPrivate ? 'private' : 'readable' });
  }
  for (const path of [paths.programFolder, ...paths.morePathElements]) {
    // Create missing parents first, so that no other user can create a folder of the PATH and put programs there.
    wantAncestors(wanted, facts, folderOf(path, facts.platform));
    wanted.want(wanted.quiet, { kind: 'pathElement', path }, 'present');
  }
  if (desired.trustMachineStore === true) {
    const { certificates } = readCertificates(desired.authorities ?? '', 'the authorities');
    for (const { der } of certificates) {
      const sha256 = wanted.put(der);
      wanted.want(wanted.quiet, { kind: 'certificate', sha256 }, 'present');
    }
  }
  wanted.want(wanted.quiet, { kind: 'eventSource', name: service }, 'present');
  const item = { kind: 'service', name: service } as const;
  wanted.want(wanted.files, item, stateIn(facts, item) ?? newService(desired));
}

/** Adds items that an installation or an update changes. */
export function wantParts(
  wanted: WantedItems,
  facts: NodeFacts,
  desired: DesiredInstallation,
  editConfig: EditConfig,
): void {
  const { paths, service: name, program, authorities, connectionInfo, nodeId } = desired;
  if (desired.winHttpProxy !== undefined)
    wanted.want(wanted.quiet, { kind: 'winHttpProxy' }, desired.winHttpProxy ?? undefined);
  if (typeof authorities === 'string')
    wanted.wantFile(paths.authorities, authorities, 'private', true);
  if (nodeId === null) wanted.wantNoFile(paths.nodeId);
  else if (nodeId !== undefined && validNodeId(facts.nodeId) === undefined) {
    wanted.wantFile(paths.nodeId, `${nodeId}\n`, 'private', false);
  }
  if (connectionInfo === null) wanted.wantNoFile(paths.connectionInfo);
  else if (connectionInfo !== undefined) {
    wanted.wantFile(paths.connectionInfo, connectionInfo.reveal(), 'private', true);
  }
  const service = stateIn(facts, { kind: 'service', name });
  const before = facts.config ?? Buffer.alloc(0);
  const config = editConfig(before, desired.config ?? {});
  if (facts.config !== undefined || config.length > 0 || service === undefined)
    wanted.wantFile(paths.config, config, 'private', true);
  if (authorities === null) wanted.wantNoFile(paths.authorities);
  for (const [variable, value] of Object.entries(desired.environment ?? {})) {
    const to = value === null ? undefined : { sha256: wanted.put(value.reveal()) };
    const item = { kind: 'variable', service: name, name: variable } as const;
    if (wanted.want(wanted.files, item, to)) wanted.disturbs = true;
  }
  if (service !== undefined) {
    const to = { ...service, startType: desired.startType ?? service.startType };
    wanted.want(wanted.quiet, { kind: 'service', name }, to);
  }
  if (program !== undefined) wantProgram(wanted, facts, desired, program);
  const hasRke2 = stateIn(facts, { kind: 'service', name: RKE2_SERVICE }) !== undefined;
  if (desired.isRke2Dependent !== undefined && hasRke2) {
    const item = { kind: 'dependency', service: RKE2_SERVICE, on: name } as const;
    wanted.want(wanted.last, item, desired.isRke2Dependent ? 'present' : undefined);
  }
}

function wantProgram(
  wanted: WantedItems,
  facts: NodeFacts,
  { paths }: DesiredInstallation,
  { file, sha256 }: NonNullable<DesiredInstallation['program']>,
): void {
  wanted.put({ file }, sha256);
  const used = facts.program?.path;
  const copy = { kind: 'file', path: paths.program } as const;
  const isElsewhere = used === undefined || itemId({ kind: 'file', path: used }) !== itemId(copy);
  if (isElsewhere && stateIn(facts, copy)?.sha256 !== sha256)
    wanted.want(wanted.files, copy, { sha256, access: 'executable' });
  if (used === undefined) return;
  if (wanted.want(wanted.files, { kind: 'program', path: used }, { sha256 }))
    wanted.disturbs = true;
}

function wantAncestors(wanted: WantedItems, facts: NodeFacts, folder: string): void {
  for (const above of ancestorsOf(folder, facts.platform)) {
    const item = { kind: 'folder', path: above } as const;
    const isPlanned = wanted.quiet.some((step) => itemId(step.item) === itemId(item));
    const isThere = isPlanned || stateIn(facts, item) !== undefined;
    if (!isThere) wanted.want(wanted.quiet, item, { access: 'readable' });
  }
}
