import { distrustOfFile } from '@wins/windows-host';
import path from 'node:path';

/** Says who else could change a config file or put another in its place, or nothing when that is nobody. */
export function windowsConfigDistrust(file: string): string | undefined {
  const distrust = distrustOfFile(path.win32.resolve(file));
  return distrust && `${distrust.path}: ${distrust.found}`;
}
