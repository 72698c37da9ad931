import { realpathSync } from 'node:fs';
import path from 'node:path';

const SUFFIX = '.upgrade';

/** Whether a daemon runs from the folder of upgrades: it is one on trial. */
export function isOnTrial(runningFile: string): boolean {
  return path.dirname(throughLinks(runningFile)).endsWith(SUFFIX);
}

/** The folder that holds everything of upgrades of the daemon that runs from this file; it need not exist. */
export function upgradeFolder(runningFile: string): string {
  const program = throughLinks(runningFile);
  return isOnTrial(runningFile) ? path.dirname(program) : program + SUFFIX;
}

/** A service may name its program through a link, and what belongs to an upgrade lies beside the program itself. */
function throughLinks(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file; // an upgrade that has just succeeded moved it away
  }
}
