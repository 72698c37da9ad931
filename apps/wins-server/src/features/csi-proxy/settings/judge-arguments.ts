import { quoteText } from '@wins/wins-program';
import { isAtLeast, type VersionNumbers } from './judge-version.js';

const FIRST: VersionNumbers = [1, 0, 0];

/** What may be added, and the first release that knows it; csi-proxy ends at a flag that it does not know. */
const ALLOWED: ReadonlyMap<string, VersionNumbers> = new Map([
  ['add_dir_header', FIRST],
  ['alsologtostderr', FIRST],
  ['log_file_max_size', FIRST],
  ['metrics-bind-address', [1, 3, 0]],
  ['require-privacy', [1, 2, 0]],
  ['skip_headers', FIRST],
  ['skip_log_headers', FIRST],
  ['stderrthreshold', FIRST],
  ['v', FIRST],
  ['vmodule', FIRST],
  ['working-dir', [1, 1, 0]],
]);

/** What the daemon sets, and by which key of the config it can be changed. */
const OURS: ReadonlyMap<string, string> = new Map([
  ['windows-service', 'none: a service always has it'],
  ['log_file', 'none: the log lies beside the config'],
  ['logtostderr', 'none: a service has no standard error'],
  ['kubelet-path', 'kubeletPath, a folder'],
]);

const FLAG = /^--?([A-Za-z][A-Za-z0-9_-]*)(?:=.*)?$/su;
const MAX_ARGUMENTS = 64;
const MAX_LENGTH = 1024;

/**
 * Judges what a config adds to the arguments: flags of this release, each whole (`-v=4`), and none of those that are set here. Pure.
 *
 * @returns What is wrong, and with which argument, counted from 0.
 */
export function judgeArguments(
  added: readonly string[],
  numbers: VersionNumbers,
): { readonly index: number; readonly found: string; readonly wanted: string } | undefined {
  if (added.length > MAX_ARGUMENTS) {
    const found = `${added.length} arguments`;
    return { index: MAX_ARGUMENTS, found, wanted: `at most ${MAX_ARGUMENTS}` };
  }
  for (const [index, argument] of added.entries()) {
    const name = argument.length > MAX_LENGTH ? undefined : FLAG.exec(argument)?.[1];
    if (name === undefined) {
      const found = quoteText(argument, { maxLength: 64 });
      return { index, found, wanted: 'one flag with its value, such as -v=4' };
    }
    const instead = OURS.get(name);
    if (instead !== undefined) return { index, found: `-${name}`, wanted: instead };
    const since = ALLOWED.get(name);
    if (since === undefined) {
      const found = `-${name}, which is no flag of csi-proxy that may be set`;
      return { index, found, wanted: `one of -${[...ALLOWED.keys()].join(', -')}` };
    }
    if (!isAtLeast(numbers, since)) {
      const found = `-${name}, at which ${numbers.join('.')} ends`;
      return { index, found, wanted: `version v${since.join('.')} or later for it` };
    }
  }
  return undefined;
}
