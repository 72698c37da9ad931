import type { CsiProxyWish } from '../settings/judge-settings.js';
import { decide, type CsiProxyFacts, type Step } from './decide.js';
import {
  NO_RECORD,
  type InstallRecord,
  type ServiceCommand,
  type StoredRelease,
} from './install-record.js';

/** Guard against a cycle in decide(); the longest legal sequence is half of this. */
export const MAX_STEPS = 16;
/** Placeholder for digests that are known only after the download. */
const UNKNOWN = '0'.repeat(64);

/** Predicts the facts after a successful step, for a dry run and for the proof that the steps terminate. Pure. */
export function afterStep(
  step: Step,
  facts: CsiProxyFacts,
  { folder }: Pick<CsiProxyWish, 'folder'>,
): CsiProxyFacts {
  const { record, service } = facts;
  switch (step.act) {
    case 'rest':
    case 'leave':
      return facts;
    case 'fetch': {
      const { version, sha256 = UNKNOWN } = step;
      const release: StoredRelease = {
        ...{ version, archiveSha256: sha256, programSha256: UNKNOWN },
        program: programPath(folder, version, sha256),
      };
      return {
        ...{ ...facts, record: fetched(record, release) },
        intact: [...new Set([...facts.intact, release.program])],
      };
    }
    case 'switch': {
      const runs = { command: step.to, isRunning: true, isDisabled: service?.isDisabled ?? false };
      const isTakenOver = step.from !== undefined && step.from.program === facts.goProgram;
      const obsolete = isTakenOver && { path: step.from.program, sha256: UNKNOWN };
      return {
        ...facts,
        ...{ service: runs, isServing: true },
        record: { ...recorded(record, step.to), ...(obsolete && { obsolete }) },
      };
    }
    case 'start':
      return {
        ...facts,
        ...(service && { service: { ...service, isRunning: true } }),
        isServing: true,
      };
    case 'record':
      return { ...facts, record: recorded(record, step.installed) };
    case 'tidy':
      return { ...facts, record: tidied(record, step.programs) };
    case 'remove': {
      const { service: kept, ...rest } = facts;
      return {
        ...rest,
        ...{ service: step.service ? undefined : kept, intact: [] },
        isServing: facts.isServing && !step.service,
        record: NO_RECORD,
      };
    }
  }
}

/** Returns the steps to the desired state, assuming that each succeeds; the last one says why no step follows. Pure. */
export function planSteps(wish: CsiProxyWish | undefined, facts: CsiProxyFacts): readonly Step[] {
  const steps: Step[] = [];
  let now = facts;
  for (;;) {
    const step = decide(wish, now);
    steps.push(step);
    if (step.act === 'rest' || step.act === 'leave' || steps.length >= MAX_STEPS) return steps;
    now = afterStep(step, now, { folder: wish?.folder ?? '' });
  }
}

export function fetched(record: InstallRecord, release: StoredRelease): InstallRecord {
  const { version, archiveSha256 } = release;
  const others = record.releases.filter(({ program }) => program !== release.program);
  const pins = { ...record.pins, [version]: archiveSha256 };
  return { ...record, pins, releases: [...others, release] };
}

export function recorded(
  { trial: _over, ...record }: InstallRecord,
  installed: ServiceCommand,
): InstallRecord {
  return { ...record, installed };
}

export function tidied(
  { obsolete, ...record }: InstallRecord,
  programs: readonly string[],
): InstallRecord {
  return {
    ...record,
    releases: record.releases.filter(({ program }) => !programs.includes(program)),
    ...(obsolete !== undefined && !programs.includes(obsolete.path) && { obsolete }),
  };
}

/** Returns the program path of a release, which no other release shares. Pure. */
export function programPath(folder: string, version: string, archiveSha256: string): string {
  const separator = folder.includes('\\') ? '\\' : '/';
  return [folder, `${version}-${archiveSha256.slice(0, 12)}`, 'csi-proxy.exe'].join(separator);
}
