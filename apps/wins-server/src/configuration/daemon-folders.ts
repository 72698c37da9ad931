import { runtimeDirectory, TextError } from '@wins/base';
import type { WinsConfig } from '@wins/config';
import type { judgeKubeconfigFile } from '@wins/system-agent';
import type { FileTrust } from '@wins/trusted-files';
import { auditDirectoryOf, keptDirectory, stateDirectoryOf } from '../kept-directory.js';

export interface JudgingOptions {
  readonly platform: NodeJS.Platform;
  /** If true, an unknown key or an entry that never matches is an error. If false, both are warnings. */
  readonly isStrict: boolean;
  /** Absent if the config is for another host; then only the content of the config is judged. */
  readonly host?: JudgingHost | undefined;
}

export interface JudgingHost {
  readonly trust: FileTrust;
  /** Called only when the config has an entry with `for`. */
  readonly tellsClientsApart: () => boolean;
  /** Returns why Windows rejects the access list of a pipe, if it does. */
  readonly pipeAccessFault: (sddl: string) => string | undefined;
  /** Called only when the config names a kubeconfig. */
  readonly judgeKubeconfig: (file: string) => ReturnType<typeof judgeKubeconfigFile>;
}

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
