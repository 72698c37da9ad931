import path from 'node:path';
import { stateIn, type ItemFacts } from '../facts/node-facts.js';
import { InstallError } from '../install-error.js';
import { itemId, type Item, type StateOf } from '../item/item.js';
import { describeStep, isSameState, stepOf } from '../item/step.js';
import type { Manifest } from '../manifest/manifest.js';
import { planUninstall } from '../plan/plan-uninstall.js';
import { WantedItems } from '../plan/wanted-items.js';
import type { KeptItem, StepPlan, UninstallPlan } from '../plan/plan.js';
import { runningOf, type KeptServiceKind, type ServiceNode } from './service-node.js';
import { recordOf, type Pins } from './service-record.js';

/** The service that a config wants. */
export interface DesiredService {
  readonly version: string;
  /** Digest of the release's archive, in lower-case hex. If absent, later downloads of the version must have the digest of the first. */
  readonly sha256?: string | undefined;
  readonly args: readonly string[];
  /** Absolute path. Contains a folder for each release. */
  readonly folder: string;
}

/** Facts that do not depend on the items of the node. */
interface OwnFacts extends Pick<ServiceNode, 'adoptedProgram'> {
  readonly kind: KeptServiceKind;
  /** Path of the record, in the folder that also has the journal. */
  readonly record: string;
  readonly pins: Pins;
}

/** State of a node from which {@link planService} works. */
export interface ServiceFacts extends ItemFacts, OwnFacts {
  /** Program of the service, if its command line names one. */
  readonly program: string | undefined;
  readonly isServing: boolean;
  /** True: removal covers the service of another installer too. */
  readonly removesAdopted: boolean;
}

/** A downloaded release. */
export interface ServiceRelease {
  /** In lower-case hex. */
  readonly archiveSha256: string;
  readonly programSha256: string;
  readonly content: Uint8Array;
}

/** First the fetch, then the change, then the removal. Without them the node stays as it is. */
export interface ServicePlan {
  readonly reason: string;
  /** True while a wanted service, or one that is left alone, serves. */
  readonly isServing: boolean;
  /** The service may have just started, so wait for its pipe before the change. */
  readonly isStarting?: boolean;
  /** Manifest of a service that another installer installed. */
  readonly adopted?: Manifest | undefined;
  /** Without `sha256`, any archive from the verified server is accepted. */
  readonly fetch?: { readonly sha256: string | undefined } | undefined;
  readonly change?: (StepPlan & { readonly program: string; readonly version: string }) | undefined;
  readonly removal?: Extract<UninstallPlan, { kind: 'uninstall' }> | undefined;
}

/** An action that a pass would take, with the reason, for people. */
export interface PlannedAction {
  readonly action: string;
  readonly reason: string;
}

/** Returns the actions of a plan, or one that says why there are none. */
export function plannedActions({
  reason,
  adopted,
  fetch,
  change,
  removal,
}: ServicePlan): readonly PlannedAction[] {
  const actions: PlannedAction[] = [];
  if (fetch !== undefined) actions.push({ action: 'fetch', reason: 'it is not downloaded yet' });
  if (adopted !== undefined)
    actions.push({ action: 'adopt', reason: 'another release of wins installed it' });
  for (const step of change?.steps ?? []) actions.push({ action: describeStep(step), reason });
  for (const step of removal?.steps ?? [])
    actions.push({ action: describeStep(step), reason: 'it is no longer wanted' });
  return actions.length > 0 ? actions : [{ action: 'rest', reason }];
}

/** Stands for digests that are known only after the download. */
const UNKNOWN = '0'.repeat(64);

/** Items that {@link planService} looks up in the facts, beside those of the manifest. */
export function itemsOfService(
  desired: DesiredService | undefined,
  own: OwnFacts,
  fetched?: ServiceRelease,
): readonly Item[] {
  const { kind, adoptedProgram, record, pins } = own;
  const items = [kind.item, runningOf(kind), fileItem(record), fileItem(adoptedProgram)];
  if (desired === undefined) return items;
  const { folders, program } = releaseItems(desired, own, digestOf(desired, pins, fetched));
  return [...items, ...folders, program];
}

/** @param fetched - The downloaded release, if an earlier plan asked for the download. */
export function planService(
  desired: DesiredService | undefined,
  found: ServiceFacts,
  fetched?: ServiceRelease,
): ServicePlan {
  const adopted = adoptable(found, desired);
  const manifest = adopted ?? found.manifest;
  const facts = { ...found, manifest };
  const service = stateIn(facts, facts.kind.item);
  const isOurs = fileIds(manifest).has(idOf(facts.program));
  if (desired !== undefined && (service === undefined || isOurs))
    return planWanted(desired, facts, adopted, fetched);
  if (desired === undefined && (service === undefined || manifest !== undefined)) {
    const entries = (manifest?.entries ?? []).filter(
      ({ item }) => isOurs || item.kind !== 'service',
    );
    const removal =
      manifest && removalOf({ ...facts, manifest: { ...manifest, entries } }, new Set());
    return { reason: 'the config wants none', isServing: false, adopted, removal };
  }
  const runs = facts.program ?? 'an unknown program';
  const reason = `the service runs ${runs}, which another installer installed`;
  return { reason, isServing: isWhole(facts) };
}

function planWanted(
  desired: DesiredService,
  facts: ServiceFacts,
  adopted: Manifest | undefined,
  fetched: ServiceRelease | undefined,
): ServicePlan {
  const { kind, pins } = facts;
  const service = stateIn(facts, kind.item);
  if (service?.startType === 'disabled')
    return { reason: 'an administrator disabled the service', isServing: isWhole(facts) };
  const { version, args } = desired;
  const archiveSha256 = digestOf(desired, pins, fetched);
  const { program, folders } = releaseItems(desired, facts, archiveSha256);
  const recordItem = fileItem(facts.record);
  const wanted = new WantedItems(facts);
  const { quiet, files, contents } = wanted;
  for (const folder of folders) {
    // An existing folder of the config has been judged, and stays as it is.
    const existing = folder.path === desired.folder ? stateIn(facts, folder) : undefined;
    wanted.want(quiet, folder, existing ?? { access: 'private' });
  }
  const recordSha256 = wanted.put(recordOf({ ...pins, [version]: archiveSha256 }));
  wanted.want(quiet, recordItem, { sha256: recordSha256, access: 'private' });
  const intact = intactState(facts, program);
  const programSha256 =
    fetched === undefined ? UNKNOWN : wanted.put(fetched.content, fetched.programSha256);
  wanted.want(files, program, intact ?? { sha256: programSha256, access: 'executable' });
  const startType = service?.startType ?? 'automatic';
  wanted.want(files, kind.item, { command: kind.commandOf(program.path, args), startType });

  const running = runningOf(kind);
  const isRunning = stateIn(facts, running) !== undefined;
  const isProved = files.length > 0 || !isWhole(facts);
  const stop = isRunning ? [stepOf(running, 'present', undefined)] : [];
  const start = stepOf(running, undefined, 'present');
  const steps = isProved ? [...quiet, ...stop, ...files, start] : quiet;
  const reasons = [
    [service === undefined, 'there is no service yet'],
    [files.length > 0, `the service does not run ${version} as configured`],
    [!isRunning, 'the service does not run'],
    [!facts.isServing, 'nothing serves its pipe'],
  ] as const;
  const kept = [...folders, recordItem, program, kind.item];
  return {
    reason: reasons.find(([isSo]) => isSo)?.[1] ?? `${version} serves`,
    isServing: isWhole(facts),
    isStarting: isRunning && files.length === 0 && !facts.isServing,
    adopted: steps.length > 0 ? adopted : undefined,
    fetch:
      intact === undefined && fetched === undefined
        ? { sha256: archiveSha256 === UNKNOWN ? undefined : archiveSha256 }
        : undefined,
    change:
      steps.length > 0
        ? { kind: 'steps', steps, contents, isProved, program: program.path, version }
        : undefined,
    removal: removalOf(facts, new Set(kept.map(itemId))),
  };
}

/** The digest in the config, or that of the version's first archive, or that of this download. */
function digestOf(
  { sha256, version }: DesiredService,
  pins: Pins,
  fetched: ServiceRelease | undefined,
): string {
  const pinned = Object.hasOwn(pins, version) ? pins[version] : undefined;
  return sha256 ?? pinned ?? fetched?.archiveSha256 ?? UNKNOWN;
}

/** No two releases share a folder. */
function releaseItems(
  { folder, version }: DesiredService,
  { kind, record }: OwnFacts,
  archiveSha256: string,
) {
  const release = path.join(folder, `${version}-${archiveSha256.slice(0, 12)}`);
  // The folder of the record exists before any step, because it has the journal.
  const folders = folder === path.dirname(record) ? [release] : [folder, release];
  return {
    folders: folders.map((each) => ({ kind: 'folder', path: each }) as const),
    program: fileItem(path.join(release, kind.programName)),
  };
}

/** Returns the recorded state of a program if the file is still as recorded. */
function intactState(facts: ServiceFacts, item: Item<'file'>): StateOf<'file'> | undefined {
  const entry = facts.manifest?.entries.find((each) => itemId(each.item) === itemId(item));
  const state = stateIn(facts, item);
  return isSameState(state, entry?.to) ? state : undefined;
}

/** Removes what the manifest lists beside the wanted items. If the adopted program was changed meanwhile, it stays and is forgotten. */
function removalOf(facts: ServiceFacts, wanted: ReadonlySet<string>): ServicePlan['removal'] {
  const { kind, manifest } = facts;
  const adopted = idOf(facts.adoptedProgram);
  const programs = (manifest?.entries ?? []).flatMap(({ item }) =>
    item.kind === 'file' && itemId(item) !== adopted ? [item.path] : [],
  );
  const plan = planUninstall(facts, { service: kind.item.name, programs, wanted });
  if (plan.kind === 'refusal') throw new InstallError('refused', plan.reason);
  const { steps, kept } = plan.kind === 'uninstall' ? plan : { steps: [], kept: [] };
  if (steps.length === 0 && wanted.size > 0) return undefined;
  const isWanted = ({ entry }: KeptItem): boolean => wanted.has(itemId(entry.item));
  return { kind: 'uninstall', steps, kept: kept.filter(isWanted) };
}

/** Returns the manifest with what another installer has installed; undefined if there is nothing new in it. */
function adoptable(
  { kind, adoptedProgram, states, manifest, program, removesAdopted }: ServiceFacts,
  desired: DesiredService | undefined,
): Manifest | undefined {
  const id = idOf(program);
  if (fileIds(manifest).has(id) || id !== idOf(adoptedProgram)) return undefined;
  if (desired === undefined && !removesAdopted) return undefined;
  const adopted = [fileItem(adoptedProgram), kind.item].flatMap((item) => {
    const state = states.get(itemId(item));
    return state === undefined ? [] : [stepOf(item, undefined, state)];
  });
  if (adopted.length === 0) return undefined;
  const ids = new Set(adopted.map(({ item }) => itemId(item)));
  const others = (manifest?.entries ?? []).filter(({ item }) => !ids.has(itemId(item)));
  return { format: 1, isAdopted: true, entries: [...others, ...adopted] };
}

function isWhole(facts: ServiceFacts): boolean {
  return facts.isServing && stateIn(facts, runningOf(facts.kind)) !== undefined;
}

function fileIds(manifest: Manifest | undefined): ReadonlySet<string> {
  const files = (manifest?.entries ?? []).filter(({ item }) => item.kind === 'file');
  return new Set(files.map(({ item }) => itemId(item)));
}

function fileItem(file: string) {
  return { kind: 'file', path: file } as const;
}

/** Equal ids mean the same file, whatever the slashes and, on Windows, the case. */
function idOf(file = ''): string {
  return itemId(fileItem(path.normalize(file)));
}
