import type { JudgedValue, WinsConfig } from '@wins/config';
import { TrustedFileError } from '@wins/trusted-files';
import { localPath, quoteText } from '@wins/base';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { auditDirectoryOf } from '../kept-directory.js';
import type { JudgingOptions } from '../kernel/judging-options.js';
import { daemonFolders, type DaemonFolder } from './daemon-folders.js';
import { describeDistrust } from './judge-pipes.js';

/** Longest folder path, in characters on Windows and bytes elsewhere. Leaves space for file names. */
const LONGEST_ON_WINDOWS = 200;
const LONGEST_ELSEWHERE = 3800;
const LONGEST_NAME = 255;
/** Device names of Windows: https://learn.microsoft.com/windows/win32/fileio/naming-a-file */
const DEVICE = /^(?:con|prn|aux|nul|com[0-9\u00b9\u00b2\u00b3]|lpt[0-9\u00b9\u00b2\u00b3])$/i;

/** Time limit, in milliseconds, so that an unresponsive disk does not block the daemon's start. */
const LOOK_MS = 2000;

export async function judgeListedFolders(
  { whiteList: { processPaths } }: WinsConfig,
  isStrict: boolean,
): Promise<readonly JudgedValue[]> {
  const folders = await listedFolders(processPaths.map(({ path }) => path));
  return folders.map((index) => ({
    severity: isStrict ? 'error' : 'warning',
    keyPath: `white_list.processPaths[${index}]`,
    found: `${quoteText(processPaths[index]?.path ?? '')}: a folder`,
    expected: 'a program',
    nextStep: 'list each of its programs by its own path',
  }));
}

/**
 * Reports unusable paths of the daemon's folders. If `host` is present, also checks on the disk that no one else can write to the audit folder.
 * The pipe names in the config must be valid, because some folders are named after them.
 */
export function judgeOwnFolders(
  config: WinsConfig,
  options: JudgingOptions,
): readonly JudgedValue[] {
  const { platform, host } = options;
  const { directory } = config.audit;
  const { mode, watchingPath } = config.upgrade;
  const { nodes } = config.hostNetwork ?? {};
  const wanted = platform === 'win32' ? 'an absolute path with a drive' : 'an absolute path';
  const faults: JudgedValue[] = [];
  const paths = {
    'upgrade.watchingPath': mode === 'watching' ? watchingPath : undefined,
    'audit.directory': directory,
    'hostNetwork.nodes.kubeconfig': nodes?.enabled === true ? nodes.kubeconfig : undefined,
  };
  for (const [keyPath, value] of Object.entries(paths)) {
    if (value === undefined || localPath(value, platform) !== undefined) continue;
    const found = `${quoteText(value)}, which is relative to the daemon's working directory`;
    faults.push({ severity: 'error', keyPath, found, expected: wanted });
  }
  if (faults.some(({ keyPath }) => keyPath === 'audit.directory')) return faults;
  for (const { keyPath, folder, what } of daemonFolders(config, options)) {
    const fault = folderFault(folder, platform);
    // Several folders may depend on one key. Report one fault per key.
    if (fault === undefined || faults.some((other) => other.keyPath === keyPath)) continue;
    const value = keyPath === 'listen' ? config.listen : (directory ?? '');
    const found = `${quoteText(value, { maxLength: 80 })} cannot be ${what}: ${fault}`;
    const expected = keyPath === 'listen' ? 'another pipe name' : 'another folder';
    faults.push({ severity: 'error', keyPath, found, expected });
  }
  if (faults.length > 0 || directory === undefined || host === undefined) return faults;
  const distrust = distrustOf(auditDirectoryOf(config), host);
  if (distrust === undefined) return faults;
  const found = `${quoteText(directory)}: ${describeDistrust(distrust)}`;
  const expected = 'a folder that no one else can write';
  return [{ severity: 'error', keyPath: 'audit.directory', found, expected }];
}

function folderFault(
  folder: DaemonFolder['folder'],
  platform: NodeJS.Platform,
): string | undefined {
  const isWindows = platform === 'win32';
  const names = folder.split(isWindows ? /[\\/]/ : '/');
  const length = isWindows ? folder.length : Buffer.byteLength(folder);
  const limit = isWindows ? LONGEST_ON_WINDOWS : LONGEST_ELSEWHERE;
  const unit = isWindows ? 'characters' : 'bytes';
  if (length > limit) return `its path has ${length} ${unit}, of ${limit} allowed`;
  if (names.some((name) => Buffer.byteLength(name) > LONGEST_NAME))
    return `a name in its path is longer than ${LONGEST_NAME} bytes`;
  if (!isWindows) return undefined;
  // The first element is the drive.
  const odd = names.slice(1).find((name) => DEVICE.test(name) || /[<>:"|?*]|[. ]$/.test(name));
  return odd === undefined
    ? undefined
    : `Windows does not allow a folder with the name ${quoteText(odd)}`;
}

function distrustOf(folder: string, { trust }: NonNullable<JudgingOptions['host']>) {
  try {
    const distrust = trust.distrustOfPrivateFolder(folder);
    // If this check does not run as root, the owner of the folder may be the daemon's user.
    const isOthers = distrust?.rule === 'A7 owned by another user' && process.geteuid?.() !== 0;
    return isOthers ? undefined : distrust;
  } catch (error) {
    // The daemon itself reports a folder where it cannot write.
    if (error instanceof TrustedFileError) return undefined;
    throw error;
  }
}

/** Returns the indexes of the paths that are folders. Skips the remaining paths after `LOOK_MS`. */
async function listedFolders(paths: readonly string[]): Promise<readonly number[]> {
  const folders: number[] = [];
  const over = delay(LOOK_MS, undefined, { ref: false });
  for (const [index, file] of paths.entries()) {
    if (!path.isAbsolute(file)) continue;
    const look = stat(file).then(
      (found) => found.isDirectory(),
      () => false,
    );
    const isFolder = await Promise.race([look, over]);
    if (isFolder === undefined) break;
    if (isFolder) folders.push(index);
  }
  return folders;
}
