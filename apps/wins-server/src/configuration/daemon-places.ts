import { runtimeDirectory, TextError } from '@wins/wins-program';
import type { WinsConfig } from '@wins/config';
import { auditDirectoryOf } from '../kernel/audit/audit-directory.js';
import { keptDirectory } from '../kept-directory.js';
import { stateDirectoryOf } from '../state-directory.js';
import type { JudgingOptions } from './judging-options.js';

/** A folder that a daemon keeps something in. */
export interface DaemonPlace {
  /** The key that decides where it is. */
  readonly keyPath: 'listen' | 'audit.directory';
  readonly folder: string;
  /** A noun phrase. */
  readonly what: string;
}

/** Where bare names are on a host of which nothing else is known, and for a user who has no such folder. */
const USUAL_FOLDER = '/run/rancher-wins';

/** The folder of bare pipe names. That there is none is for the start to say: it is no matter of the config. */
export function pipeFolder({ platform, host }: Pick<JudgingOptions, 'platform' | 'host'>): string {
  if (host === undefined || platform === 'win32') return USUAL_FOLDER;
  try {
    return runtimeDirectory();
  } catch (error) {
    if (error instanceof TextError) return USUAL_FOLDER;
    throw error;
  }
}

/** The folders of a daemon with this config, whose pipe names are right. */
export function daemonPlaces(
  config: Pick<WinsConfig, 'listen' | 'audit'>,
  { platform, host }: Pick<JudgingOptions, 'platform' | 'host'>,
): readonly DaemonPlace[] {
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
