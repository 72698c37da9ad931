import {
  describeStep,
  isSameState,
  itemId,
  planUninstall,
  stateIn,
  stepOf,
  type Item,
  type ItemFacts,
  type KeptItem,
  type Manifest,
  type StateOf,
  type Step,
  type StepPlan,
  type UninstallPlan,
} from '@wins/installation';
import { windowsCommandLine } from '@wins/windows-host';
import { hash } from 'node:crypto';
import path from 'node:path';
import { CsiProxyError } from './csi-proxy-error.js';
import type { CsiProxyRecord } from './csi-proxy-record.js';
import type { DesiredCsiProxy } from './settings/judge-settings.js';

export const SERVICE = { kind: 'service', name: 'csiproxy' } as const;
export const RUNNING = { kind: 'running', service: SERVICE.name } as const;

/** Paths that do not depend on the config. */
export interface CsiProxyPaths {
  /** In the folder that also has the journal. */
  readonly record: string;
  /** csi-proxy of the Go release of wins. A service that runs it is adopted. */
  readonly goProgram: string;
}

export interface CsiProxyNodeFacts extends ItemFacts {
  readonly paths: CsiProxyPaths;
  readonly record: CsiProxyRecord;
  /** Program of the service, if its command line names one. */
  readonly program: string | undefined;
  readonly isServing: boolean;
  /** True: removal covers the Go release's installation too. */
  readonly removesGo: boolean;
}

/** A downloaded release. */
export interface Release {
  readonly archiveSha256: string;
  readonly programSha256: string;
  readonly content: Uint8Array;
}

/** First the fetch, then the change, then the removal. Without them the node stays as it is. */
export interface CsiProxyPlan {
  readonly reason: string;
  /** True while a wanted service, or one that wins leaves alone, serves. */
  readonly isServing: boolean;
  /** The service may have just started, so wait for its pipe before the change. */
  readonly isStarting?: boolean;
  /** Manifest of a csi-proxy that another release of wins installed. */
  readonly adopted?: Manifest | undefined;
  /** Without `sha256`, any archive from the verified server is accepted. */
  readonly fetch?: { readonly sha256: string | undefined } | undefined;
  readonly change?: (StepPlan & { readonly program: string; readonly version: string }) | undefined;
  readonly removal?: Extract<UninstallPlan, { kind: 'uninstall' }> | undefined;
}

export interface CsiProxyStep {
  readonly action: string;
  readonly reason: string;
}

/** Returns the steps of a plan for people, or one line that says why there are none. */
export function planSteps({
  reason,
  adopted,
  fetch,
  change,
  removal,
}: CsiProxyPlan): readonly CsiProxyStep[] {
  const steps: CsiProxyStep[] = [];
  if (fetch !== undefined) steps.push({ action: 'fetch', reason: 'it is not downloaded yet' });
  if (adopted !== undefined)
    steps.push({ action: 'adopt', reason: 'another release of wins installed it' });
  for (const step of change?.steps ?? []) steps.push({ action: describeStep(step), reason });
  for (const step of removal?.steps ?? [])
    steps.push({ action: describeStep(step), reason: 'it is no longer wanted' });
  return steps.length > 0 ? steps : [{ action: 'rest', reason }];
}

/** Stands for digests that are known only after the download. */
const UNKNOWN = '0'.repeat(64);

/** Items that {@link planCsiProxy} looks up in the facts, beside those of the manifest. */
export function itemsToRead(
  desired: DesiredCsiProxy | undefined,
  record: CsiProxyRecord,
  paths: CsiProxyPaths,
  fetched?: Release,
): readonly Item[] {
  const wanted = desired && wantedFiles(desired, paths, digestOf(desired, record, fetched));
  const programs = (record.releases ?? []).map(({ program }) => program);
  const files = [paths.record, paths.goProgram, ...programs, ...(wanted ? [wanted.program] : [])];
  const folders = [...programs.map((each) => path.dirname(each)), ...(wanted?.folders ?? [])];
  return [
    SERVICE,
    RUNNING,
    ...files.map((file): Item => ({ kind: 'file', path: file })),
    ...folders.map((folder): Item => ({ kind: 'folder', path: folder })),
  ];
}

/** @param fetched - The downloaded release, if an earlier plan asked for the download. */
export function planCsiProxy(
  desired: DesiredCsiProxy | undefined,
  found: CsiProxyNodeFacts,
  fetched?: Release,
): CsiProxyPlan {
  const adopted = adoptable(found, desired);
  const manifest = adopted ?? found.manifest;
  const facts = { ...found, manifest };
  const service = stateIn(facts, SERVICE);
  const isOurs = fileIds(manifest).has(idOf(facts.program));
  if (desired === undefined && manifest !== undefined) {
    const entries = manifest.entries.filter(({ item }) => isOurs || item.kind !== 'service');
    const removal = removalOf({ ...facts, manifest: { ...manifest, entries } }, new Set());
    return { reason: 'the config wants none', isServing: false, adopted, removal };
  }
  if (service === undefined || isOurs)
    return desired === undefined
      ? { reason: 'the config wants none', isServing: false }
      : planWanted(desired, facts, adopted, fetched);
  const runs = facts.program ?? 'an unknown program';
  const reason = `the service runs ${runs}, which another installer installed`;
  return { reason, isServing: isWhole(facts) };
}

function planWanted(
  desired: DesiredCsiProxy,
  facts: CsiProxyNodeFacts,
  adopted: Manifest | undefined,
  fetched: Release | undefined,
): CsiProxyPlan {
  const service = stateIn(facts, SERVICE);
  if (service?.startType === 'disabled')
    return { reason: 'an administrator disabled the service', isServing: isWhole(facts) };
  const { version, args } = desired;
  const archiveSha256 = digestOf(desired, facts.record, fetched);
  const { program, folders } = wantedFiles(desired, facts.paths, archiveSha256);
  const intact = intactFile(facts, program);
  const pins = { ...facts.record.pins, [version]: archiveSha256 };
  const record = Buffer.from(`${JSON.stringify({ format: 1, pins })}\n`);
  const recordSha256 = hash('sha256', record, 'hex');
  const contents = new Map<string, Uint8Array>([[recordSha256, record]]);
  if (fetched !== undefined) contents.set(fetched.programSha256, fetched.content);

  const wanted = new Set<string>();
  const want = (item: Item, to: StateOf): readonly Step[] => {
    wanted.add(itemId(item));
    const from = facts.states.get(itemId(item));
    return isSameState(from, to) ? [] : [stepOf(item, from, to)];
  };
  const quiet = [
    ...folders.flatMap((folder) => {
      const item = { kind: 'folder', path: folder } as const;
      // An existing folder of the config has been judged, and stays as it is.
      const existing = folder === desired.folder ? facts.states.get(itemId(item)) : undefined;
      return want(item, existing ?? { access: 'private' });
    }),
    ...want(
      { kind: 'file', path: facts.paths.record },
      { sha256: recordSha256, access: 'private' },
    ),
  ];
  const programSha256 = fetched?.programSha256 ?? UNKNOWN;
  const disturbing = [
    ...want(
      { kind: 'file', path: program },
      intact ?? { sha256: programSha256, access: 'executable' },
    ),
    ...want(SERVICE, {
      command: windowsCommandLine(program, args),
      startType: service?.startType ?? 'automatic',
    }),
  ];
  const isRunning = stateIn(facts, RUNNING) !== undefined;
  const isProved = disturbing.length > 0 || !isWhole(facts);
  const restart = [
    ...(isRunning ? [stepOf(RUNNING, 'present', undefined)] : []),
    ...disturbing,
    stepOf(RUNNING, undefined, 'present'),
  ];
  const steps = isProved ? [...quiet, ...restart] : quiet;
  const reasons = [
    [service === undefined, 'there is no service yet'],
    [disturbing.length > 0, `the service does not run ${version} as configured`],
    [!isRunning, 'the service does not run'],
    [!facts.isServing, 'nothing serves its pipe'],
  ] as const;
  return {
    reason: reasons.find(([isSo]) => isSo)?.[1] ?? `${version} serves`,
    isServing: isWhole(facts),
    isStarting: isRunning && disturbing.length === 0 && !facts.isServing,
    adopted: steps.length > 0 ? adopted : undefined,
    fetch:
      intact === undefined && fetched === undefined
        ? { sha256: archiveSha256 === UNKNOWN ? undefined : archiveSha256 }
        : undefined,
    change:
      steps.length > 0 ? { kind: 'steps', steps, contents, isProved, program, version } : undefined,
    removal: removalOf(facts, wanted),
  };
}

/** The digest in the config, or that of the version's first archive, or that of this download. */
function digestOf(
  { sha256, version }: DesiredCsiProxy,
  { pins }: CsiProxyRecord,
  fetched: Release | undefined,
): string {
  const pinned = Object.hasOwn(pins, version) ? pins[version] : undefined;
  return sha256 ?? pinned ?? fetched?.archiveSha256 ?? UNKNOWN;
}

/** No two releases share a folder. */
function wantedFiles(
  { folder, version }: DesiredCsiProxy,
  { record }: CsiProxyPaths,
  archiveSha256: string,
) {
  const release = path.join(folder, `${version}-${archiveSha256.slice(0, 12)}`);
  // The folder of the record exists before any step, because it has the journal.
  const folders = folder === path.dirname(record) ? [release] : [folder, release];
  return { folders, program: path.join(release, 'csi-proxy.exe') };
}

/** Returns the recorded state of a program if the file is still as recorded. */
function intactFile({ manifest, states }: CsiProxyNodeFacts, program: string): StateOf | undefined {
  const id = idOf(program);
  const state = manifest?.entries.find(({ item }) => itemId(item) === id)?.to;
  return isSameState(states.get(id), state) ? state : undefined;
}

/** Removes what the manifest lists beside the wanted items. If the Go release's program was changed meanwhile, it stays and is forgotten. */
function removalOf(facts: CsiProxyNodeFacts, wanted: ReadonlySet<string>): CsiProxyPlan['removal'] {
  const go = idOf(facts.paths.goProgram);
  const programs = (facts.manifest?.entries ?? []).flatMap(({ item }) =>
    item.kind === 'file' && itemId(item) !== go ? [item.path] : [],
  );
  const plan = planUninstall(facts, { service: SERVICE.name, programs, wanted });
  if (plan.kind === 'refusal') throw new CsiProxyError('fileFailed', plan.reason);
  const { steps, kept } = plan.kind === 'uninstall' ? plan : { steps: [], kept: [] };
  if (steps.length === 0 && wanted.size > 0) return undefined;
  const isWanted = ({ entry }: KeptItem): boolean => wanted.has(itemId(entry.item));
  return { kind: 'uninstall', steps, kept: kept.filter(isWanted) };
}

/** Returns the manifest with what the Go release of wins, or a release without a manifest, has installed; undefined if there is nothing new in it. */
function adoptable(
  { states, manifest, program, record, paths, removesGo }: CsiProxyNodeFacts,
  desired: DesiredCsiProxy | undefined,
): Manifest | undefined {
  if (fileIds(manifest).has(idOf(program))) return undefined;
  const { releases } = record;
  const isGo = (desired !== undefined || removesGo) && idOf(program) === idOf(paths.goProgram);
  const isRecorded = releases?.some((one) => idOf(one.program) === idOf(program)) === true;
  const items: Item[] = [
    ...(releases ?? []).flatMap((one): Item[] => [
      { kind: 'folder', path: path.dirname(one.program) },
      { kind: 'file', path: one.program },
    ]),
    ...(releases === undefined ? [] : [{ kind: 'file', path: paths.record } as const]),
    ...(isGo ? [{ kind: 'file', path: paths.goProgram } as const] : []),
    ...(isGo || isRecorded ? [SERVICE] : []),
  ];
  const adopted = items.flatMap((item) => {
    const state = states.get(itemId(item));
    return state === undefined ? [] : [stepOf(item, undefined, state)];
  });
  if (adopted.length === 0) return undefined;
  const ids = new Set(adopted.map(({ item }) => itemId(item)));
  const others = (manifest?.entries ?? []).filter(({ item }) => !ids.has(itemId(item)));
  return { format: 1, isAdopted: true, entries: [...others, ...adopted] };
}

function isWhole(facts: CsiProxyNodeFacts): boolean {
  return facts.isServing && stateIn(facts, RUNNING) !== undefined;
}

function fileIds(manifest: Manifest | undefined): ReadonlySet<string> {
  const files = (manifest?.entries ?? []).filter(({ item }) => item.kind === 'file');
  return new Set(files.map(({ item }) => itemId(item)));
}

/** Equal ids mean the same file, whatever the slashes and, on Windows, the case. */
function idOf(file = ''): string {
  return itemId({ kind: 'file', path: path.normalize(file) });
}
