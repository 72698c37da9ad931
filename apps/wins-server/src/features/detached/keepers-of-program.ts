import {
  RunFolders,
  startKeeper,
  type KeepersOptions,
  type KeeperTransport,
} from '@wins/process-manager';
import { privateTransport } from '@wins/pipe-transport';
import { isSea } from 'node:sea';
import type { Kernel } from '../../kernel/feature.js';
import type { DaemonSystem } from '../../kernel/operating-system.js';
import { copyForKeeper, ownExecutable, removeCopies } from './keeper-program.js';

/** The only variables of the daemon that a keeper receives. */
const KEPT_VARIABLES = ['PATH', 'TZ', 'SystemRoot', 'ProgramData', 'TEMP'];

/** Keepers are processes of this program: `wins srv keep`. */
export function keepersOfProgram({
  program,
  checksum,
  system,
}: Pick<Kernel, 'program' | 'checksum' | 'system'>): KeepersOptions {
  const { keepers } = system;
  return {
    release: checksum,
    transport: transportOf(system),
    start: async (stateDirectory) => {
      const args = [...(isSea() ? [] : [program]), 'srv', 'keep', '--state', stateDirectory];
      const { folder } = new RunFolders(stateDirectory);
      return startKeeper(
        {
          file: await executable(folder, checksum, keepers !== undefined),
          args,
          env: variables(),
        },
        keepers?.start,
      );
    },
    removeUnused: (stateDirectory) => removeCopies(new RunFolders(stateDirectory).folder),
  };
}

/** Keepers serve administrators of the host alone: on Windows by a pipe that only they may open, elsewhere by a socket in a private folder. */
export function transportOf({
  keepers,
  identify,
}: Pick<DaemonSystem, 'keepers' | 'identify'>): KeeperTransport {
  return privateTransport({ identify, ...keepers });
}

/** @param isLocked - Whether the system forbids replacing a running program. */
async function executable(
  folder: string,
  checksum: Promise<string>,
  isLocked: boolean,
): Promise<string> {
  if (!isSea()) return process.execPath;
  return isLocked ? copyForKeeper(folder, await checksum) : ownExecutable();
}

function variables(): Record<string, string> {
  const set = KEPT_VARIABLES.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(set);
}
