import { randomBytes } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { readdir, realpath } from 'node:fs/promises';
import path from 'node:path';
import type { ServiceControl, ServiceStatus } from '../service/service-control.js';
import { UpgradeError } from '../upgrade-error.js';

const SUFFIX = '.upgrade';
const DIGEST_DIGITS = 12;
/** A name may be held by a leftover process of an earlier upgrade. */
const STAGED_NAMES = 8;
const RECORD_PREFIX = 'record-';
const HELPER_PREFIX = 'helper-';

/** All but the target are in one private folder. */
export interface UpgradePaths {
  /** The path that operators know. The service is registered with it, except during a trial. */
  readonly target: string;
  /** Beside the target, on the same volume, so that one rename can replace the target. */
  readonly folder: string;
  readonly journal: string;
  readonly result: string;
  readonly log: string;
  /** Lock file, for systems that lock with a file. Only the upgrading process has it open. */
  readonly lock: string;
}

/** Returns the paths in the folder `TARGET.upgrade`, beside the program. */
export function upgradePaths(target: string): UpgradePaths {
  const folder = target + SUFFIX;
  return {
    target,
    folder,
    journal: path.join(folder, 'journal.json'),
    result: path.join(folder, 'result.json'),
    log: path.join(folder, 'upgrade.log'),
    lock: path.join(folder, 'lock'),
  };
}

/** Resolves links. @throws UpgradeError `refused` when the service names no absolute path. */
export async function findPaths(
  service: Pick<ServiceControl, 'defaultTarget' | 'query'>,
  status?: ServiceStatus,
): Promise<UpgradePaths> {
  const found = status ?? (await service.query());
  const named = found === undefined ? service.defaultTarget : targetOf(found.command.imagePath);
  if (!path.isAbsolute(named))
    throw new UpgradeError('refused', `the service names ${named}; wanted an absolute path`);
  const real = realpath(named).catch(async () => {
    // The program itself may be absent.
    const folder = path.dirname(named);
    return path.join(await realpath(folder).catch(() => folder), path.basename(named));
  });
  return upgradePaths(await real);
}

/** Returns the installed path, which differs from `imagePath` only during a trial. */
export function targetOf(imagePath: string): string {
  const folder = path.dirname(imagePath);
  return folder.endsWith(SUFFIX) && folder.length > SUFFIX.length
    ? folder.slice(0, -SUFFIX.length)
    : imagePath;
}

/** A daemon on trial runs from the upgrade folder. */
export function isOnTrial(runningFile: string): boolean {
  return path.dirname(throughLinks(runningFile)).endsWith(SUFFIX);
}

/** Returns the upgrade folder of the daemon that runs from this file. The folder may be missing. */
export function upgradeFolder(runningFile: string): string {
  const program = throughLinks(runningFile);
  return isOnTrial(runningFile) ? path.dirname(program) : program + SUFFIX;
}

/** Resolves links: a service may name its program by a link. */
export function throughLinks(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file; // an upgrade that has just succeeded moved it away
  }
}

/** Returns the paths that the new program may have during its trial, in the order of preference. */
export function stagedPaths(
  { target, folder }: UpgradePaths,
  version: string,
  sha256: string,
): readonly [string, ...string[]] {
  const { name, ext } = path.parse(target);
  const release = version
    .replace(/^v/, '')
    .replace(/[^0-9A-Za-z.+-]/g, '_')
    .slice(0, 64);
  const stem = path.join(folder, `${name}-${release}-${sha256.slice(0, DIGEST_DIGITS)}`);
  const others = Array.from({ length: STAGED_NAMES - 1 }, (_, at) => `${stem}-${at + 2}${ext}`);
  return [`${stem}${ext}`, ...others];
}

/** Path of the audit record. A second attempt to write it uses the same path. */
export function recordPath({ folder }: UpgradePaths, id: string, sha256: string): string {
  return path.join(folder, `${RECORD_PREFIX}${id}-${sha256.slice(0, DIGEST_DIGITS)}.json`);
}

export async function untakenRecords({ folder }: UpgradePaths): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names
    .filter((name) => name.startsWith(RECORD_PREFIX))
    .map((name) => path.join(folder, name));
}

export function temporaryPath({ target, folder }: UpgradePaths): string {
  // Keep the extension: Windows needs it to run the program when its version is queried.
  return path.join(folder, `${randomBytes(8).toString('hex')}.tmp${path.extname(target)}`);
}

export const upgraderIn = (folder: string): string => path.join(folder, 'upgrader');

export function helperPath({ target, folder }: UpgradePaths): string {
  const name = `${HELPER_PREFIX}${randomBytes(6).toString('hex')}`;
  return path.join(folder, name + path.extname(target));
}

/** Returns the paths of all helpers in the folder, running or not. */
export async function helpersIn({ folder }: UpgradePaths): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name.startsWith(HELPER_PREFIX));
}
