import { runtimeDirectory, TextError } from '@wins/base';
import type { WinsConfig } from '@wins/config';
import type { FileTrust } from '@wins/trusted-files';
import { auditDirectoryOf } from '../kernel/audit/audit-directory.js';
import { keptDirectory } from '../kept-directory.js';
import { stateDirectoryOf } from '../state-directory.js';

export interface JudgingOptions {
  readonly platform: NodeJS.Platform;
  /** Whether an entry that can never match is an error, as unknown keys are, or a warning, as for a daemon that starts. */
  readonly isStrict: boolean;
  /** The host that it is for; absent for another one: then its content alone is judged, as far as that can be. */
  readonly host?: JudgingHost | undefined;
}

/** Facts that only the host of a config can provide. */
export interface JudgingHost {
  readonly trust: FileTrust;
  /** Called for a config with `for` alone. */
  readonly tellsClientsApart: () => boolean;
  /** Why this system does not take an access list of pipes; undefined when it does, or has none. */
  readonly pipeAccessFault: (sddl: string) => string | undefined;
}

export interface DaemonPlace {
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
