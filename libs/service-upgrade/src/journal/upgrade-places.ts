import { randomBytes } from 'node:crypto';
import path from 'node:path';

const SUFFIX = '.upgrade';
const DIGEST_DIGITS = 12;
/** How the names of records begin that no daemon has taken yet into its audit log. */
export const RECORD_PREFIX = 'record-';
/** How the names of helpers begin that left a run. */
export const HELPER_PREFIX = 'helper-';

/** Where everything of an upgrade is. All but the target is in one folder that only we can use. */
export interface UpgradePlaces {
  /** The path that operators know and that the service names but for the moment of a trial. */
  readonly target: string;
  /** Beside the target, hence on the same volume: whatever is whole in it takes the target's place by one rename. */
  readonly folder: string;
  readonly journal: string;
  /** The config that the old daemon served with, during an upgrade. */
  readonly configBefore: string;
  readonly result: string;
  readonly log: string;
  /** Where the lock is a file: the process that has it open is the one that upgrades. */
  readonly lock: string;
}

/** The places that belong to a target. */
export function upgradePlaces(target: string): UpgradePlaces {
  const folder = target + SUFFIX;
  return {
    target,
    folder,
    journal: path.join(folder, 'journal.json'),
    configBefore: path.join(folder, 'config.before'),
    result: path.join(folder, 'result.json'),
    log: path.join(folder, 'upgrade.log'),
    lock: path.join(folder, 'lock'),
  };
}

/** The target of a program that a service names: the program itself, or what it stands for during a trial. */
export function targetOf(imagePath: string): string {
  const folder = path.dirname(imagePath);
  return folder.endsWith(SUFFIX) && folder.length > SUFFIX.length
    ? folder.slice(0, -SUFFIX.length)
    : imagePath;
}

/** The name of a new program while it is on trial: it says which release it is and what it holds. */
export function stagedPath({ target, folder }: UpgradePlaces, version: string, sha256: string) {
  const { name, ext } = path.parse(target);
  const release = version
    .replace(/^v/, '')
    .replace(/[^0-9A-Za-z.+-]/g, '_')
    .slice(0, 64);
  return path.join(folder, `${name}-${release}-${sha256.slice(0, DIGEST_DIGITS)}${ext}`);
}

/** Where the end of an upgrade is recorded until a daemon takes it: the same place however often it is recorded. */
export function recordPath({ folder }: UpgradePlaces, id: string, sha256: string): string {
  return path.join(folder, `${RECORD_PREFIX}${id}-${sha256.slice(0, DIGEST_DIGITS)}.json`);
}

/** A new name in the folder for something that is not whole yet. */
export function temporaryPath({ target, folder }: UpgradePlaces): string {
  // A program keeps its ending: it is run to be asked for its version.
  return path.join(folder, `${randomBytes(8).toString('hex')}.tmp${path.extname(target)}`);
}

/** Where the process that upgrades is named. */
export function upgraderIn(folder: string): string {
  return path.join(folder, 'upgrader');
}

/** Where the helper that leaves a run is run from. */
export function helperPath({ target, folder }: UpgradePlaces): string {
  const name = `${HELPER_PREFIX}${randomBytes(6).toString('hex')}`;
  return path.join(folder, name + path.extname(target));
}
