import { runtimeDirectory, TextError } from '@wins/base';
import type { WinsConfig } from '@wins/config';
import type { JudgingOptions } from '../kernel/judging-options.js';
import { auditDirectoryOf, keptDirectory, stateDirectoryOf } from '../kept-directory.js';

export interface DaemonFolder {
  readonly keyPath: 'listen' | 'audit.directory';
  readonly folder: string;
  readonly what: string;
}

/** Assumed folder of pipes if the config is for another host, or if the user has no runtime folder. */
const USUAL_FOLDER = '/run/rancher-wins';

/**
 * Returns the folder of pipes that the config gives as bare names, not as paths. If this user has no usable runtime folder, returns `USUAL_FOLDER`
 * without an error, because the daemon's start reports that error.
 */
export function pipeFolder({ platform, host }: Pick<JudgingOptions, 'platform' | 'host'>): string {
  if (host === undefined || platform === 'win32') return USUAL_FOLDER;
  try {
    return runtimeDirectory();
  } catch (error) {
    if (error instanceof TextError) return USUAL_FOLDER;
    throw error;
  }
}

export function daemonFolders(
  config: Pick<WinsConfig, 'listen' | 'audit'>,
  { platform, host }: Pick<JudgingOptions, 'platform' | 'host'>,
): readonly DaemonFolder[] {
  const { listen, audit } = config;
  const { ProgramData } = host === undefined ? {} : process.env;
  const environment = { WINS_RUNTIME_DIR: pipeFolder({ platform, host }), ProgramData };
  const keyPath = 'listen';
  const where = [platform, environment] as const;
  return [
    { keyPath, folder: stateDirectoryOf(listen, ...where), what: 'the folder of its state' },
    {
      keyPath,
      folder: keptDirectory({ what: 'events', listen }, ...where),
      what: 'the folder of its events',
    },
    {
      keyPath: audit.directory === undefined ? keyPath : 'audit.directory',
      folder: auditDirectoryOf(config, ...where),
      what: 'the folder of its audit log',
    },
  ];
}
