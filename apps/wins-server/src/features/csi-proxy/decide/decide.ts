import { isDeepStrictEqual } from 'node:util';
import type { ServiceFacts } from '../csi-proxy-port.js';
import type { DesiredCsiProxy } from '../settings/judge-settings.js';
import {
  NO_RECORD,
  type InstallRecord,
  type ServiceCommand,
  type StoredRelease,
} from './install-record.js';

/** Each path has exactly one spelling, so paths can be compared as texts. */
export interface CsiProxyFacts {
  readonly service: ServiceFacts | undefined;
  readonly record: InstallRecord;
  /** Recorded programs whose files match their digests. */
  readonly intact: readonly string[];
  readonly isServing: boolean;
  /** csi-proxy of the Go release of wins; undefined on systems without that release. */
  readonly goProgram: string | undefined;
  /** True: removal covers the Go release's installation too. */
  readonly removesGo?: boolean;
}

/** Next step, with its reason. `rest` and `leave` are final. */
export type Step = { readonly reason: string } & (
  | { readonly action: 'rest' }
  /** The service is not ours. */
  | { readonly action: 'leave' }
  /** Without `sha256`, any archive from the verified server is accepted. */
  | { readonly action: 'fetch'; readonly version: string; readonly sha256?: string }
  /** Switches the service to `to` and checks that it serves; restores `from` on failure. */
  | { readonly action: 'switch'; readonly to: ServiceCommand; readonly from?: ServiceCommand }
  | { readonly action: 'start'; readonly command: ServiceCommand }
  | { readonly action: 'record'; readonly installed: ServiceCommand }
  | { readonly action: 'tidy'; readonly programs: readonly string[] }
  /** Removes the installed programs; with `service`, also the service. */
  | { readonly action: 'remove'; readonly service: boolean }
);

/** Decides the next step. A sequence of steps ends with `rest` or `leave`. */
export function decide(desired: DesiredCsiProxy | undefined, facts: CsiProxyFacts): Step {
  const { service, record } = facts;
  if (desired === undefined) return decideUnwanted(facts);
  if (service !== undefined && !isOurs(facts) && !isOfGo(facts)) {
    const runs = service.command?.program ?? 'an unknown program';
    return {
      action: 'leave',
      reason: `the service runs ${runs}, which another installer installed`,
    };
  }
  if (service?.isDisabled === true)
    return { action: 'leave', reason: 'an administrator disabled the service' };

  const release = wantedRelease(desired, facts);
  if (release === undefined) {
    const sha256 = desired.sha256 ?? pinOf(record, desired.version);
    const reason = `${desired.version} is not downloaded yet`;
    return {
      action: 'fetch',
      version: desired.version,
      ...(sha256 !== undefined && { sha256 }),
      reason,
    };
  }
  const target: ServiceCommand = { program: release.program, args: desired.args };
  const { trial } = record;
  if (service === undefined)
    return { action: 'switch', to: target, reason: 'there is no service yet' };
  const isOnTrial = trial !== undefined && isDeepStrictEqual(service.command, trial.to);
  const isProven = service.isRunning && facts.isServing;
  if (!isDeepStrictEqual(service.command, target)) {
    // If the command on trial does not serve, a rollback must restore the one before it.
    const from = isOnTrial && !isProven ? trial.from : service.command;
    const reason = isOfGo(facts)
      ? 'the service runs a program that an earlier release of wins installed'
      : `the service runs another program or other arguments: ${service.command?.program ?? 'none'}`;
    return { action: 'switch', to: target, ...(from && { from }), reason };
  }
  if (isOnTrial && !isProven) {
    const { from } = trial;
    const reason = 'an earlier change was interrupted';
    return { action: 'switch', to: target, ...(from && { from }), reason };
  }
  if (!isProven) {
    const reason = service.isRunning ? 'nothing serves its pipe' : 'the service does not run';
    return { action: 'start', command: target, reason };
  }
  if (!isDeepStrictEqual(record.installed, target) || trial !== undefined)
    return { action: 'record', installed: target, reason: 'it is serving' };
  const unused = record.releases
    .map(({ program }) => program)
    .filter((program) => program !== target.program);
  if (unused.length > 0 || record.obsolete !== undefined) {
    const programs = [...unused, ...(record.obsolete ? [record.obsolete.path] : [])];
    return { action: 'tidy', programs, reason: 'no longer needed' };
  }
  return { action: 'rest', reason: `${desired.version} serves` };
}

function wantedRelease(
  { version, sha256, folder }: DesiredCsiProxy,
  { record, intact }: Pick<CsiProxyFacts, 'record' | 'intact'>,
): StoredRelease | undefined {
  const digest = sha256 ?? pinOf(record, version);
  return record.releases.find(
    (release) =>
      release.version === version &&
      release.archiveSha256 === digest &&
      isBelow(folder, release.program) &&
      intact.includes(release.program),
  );
}

function pinOf({ pins }: InstallRecord, version: string): string | undefined {
  return Object.hasOwn(pins, version) ? pins[version] : undefined;
}

function decideUnwanted(facts: CsiProxyFacts): Step {
  const { service, record } = facts;
  if (service !== undefined && isOurs(facts))
    return {
      action: 'remove',
      service: true,
      reason: 'the config has no csi-proxy, and wins installed this one',
    };
  if (facts.removesGo === true && isOfGo(facts)) {
    const reason = 'remove the whole installation of an earlier release of wins';
    return { action: 'remove', service: true, reason };
  }
  if (!isDeepStrictEqual(record, NO_RECORD))
    return { action: 'remove', service: false, reason: 'the config wants none' };
  if (service === undefined) return { action: 'rest', reason: 'the config wants none' };
  return {
    action: 'leave',
    reason: 'the config has no csi-proxy, and wins did not install this service',
  };
}

function isOurs({ service, record }: CsiProxyFacts): boolean {
  const program = service?.command?.program;
  if (program === undefined) return false;
  const ours = [record.installed, record.trial?.to].map((command) => command?.program);
  return ours.includes(program) || record.releases.some((one) => one.program === program);
}

function isOfGo({ service, goProgram }: CsiProxyFacts): boolean {
  return goProgram !== undefined && service?.command?.program === goProgram;
}

function isBelow(folder: string, program: string): boolean {
  // Windows ignores case.
  const [above, file] = /^[a-z]:/i.test(folder)
    ? [folder.toLowerCase(), program.toLowerCase()]
    : [folder, program];
  return file.startsWith(above) && /^[\\/]/.test(file.slice(above.length));
}

/** Guards against a cycle in decide(): the longest legal sequence has half as many steps. */
export const MAX_STEPS = 16;
/** Placeholder for digests that are known only after the download. */
const UNKNOWN = '0'.repeat(64);

/** Predicts the state of the node after a step. Dry runs use it. A test also uses it to show that each sequence of steps ends. */
export function afterStep(
  step: Step,
  facts: CsiProxyFacts,
  { folder }: Pick<DesiredCsiProxy, 'folder'>,
): CsiProxyFacts {
  const { record, service } = facts;
  switch (step.action) {
    case 'rest':
    case 'leave':
      return facts;
    case 'fetch': {
      const { version, sha256 = UNKNOWN } = step;
      const release: StoredRelease = {
        version,
        archiveSha256: sha256,
        programSha256: UNKNOWN,
        program: programPath(folder, version, sha256),
      };
      return {
        ...facts,
        record: fetched(record, release),
        intact: [...new Set([...facts.intact, release.program])],
      };
    }
    case 'switch': {
      const runs = { command: step.to, isRunning: true, isDisabled: service?.isDisabled ?? false };
      const isTakenOver = step.from !== undefined && step.from.program === facts.goProgram;
      const obsolete = isTakenOver && { path: step.from.program, sha256: UNKNOWN };
      return {
        ...facts,
        service: runs,
        isServing: true,
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
        service: step.service ? undefined : kept,
        intact: [],
        isServing: facts.isServing && !step.service,
        record: NO_RECORD,
      };
    }
  }
}

/** Returns all steps, assuming that each succeeds. The reason of the last step says why no step follows it. */
export function planSteps(
  desired: DesiredCsiProxy | undefined,
  facts: CsiProxyFacts,
): readonly Step[] {
  const steps: Step[] = [];
  let now = facts;
  for (;;) {
    const step = decide(desired, now);
    steps.push(step);
    if (step.action === 'rest' || step.action === 'leave' || steps.length >= MAX_STEPS)
      return steps;
    now = afterStep(step, now, { folder: desired?.folder ?? '' });
  }
}

export function fetched(record: InstallRecord, release: StoredRelease): InstallRecord {
  const { version, archiveSha256 } = release;
  const others = record.releases.filter(({ program }) => program !== release.program);
  const pins = { ...record.pins, [version]: archiveSha256 };
  return { ...record, pins, releases: [...others, release] };
}

export function recorded({ trial: _over, ...record }: InstallRecord, installed: ServiceCommand) {
  return { ...record, installed };
}

export function tidied({ obsolete, ...record }: InstallRecord, programs: readonly string[]) {
  return {
    ...record,
    releases: record.releases.filter(({ program }) => !programs.includes(program)),
    ...(obsolete !== undefined && !programs.includes(obsolete.path) && { obsolete }),
  };
}

/** No two releases share a path. */
export function programPath(folder: string, version: string, archiveSha256: string): string {
  const separator = folder.includes('\\') ? '\\' : '/';
  return [folder, `${version}-${archiveSha256.slice(0, 12)}`, 'csi-proxy.exe'].join(separator);
}
