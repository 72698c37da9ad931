import { ConfigError, maskedSettings, type ConfigProblem, type LoadedConfig } from '@wins/config';
import { messageOf } from '@wins/base';
import { loadDaemonConfig } from '../configuration/load-daemon-config.js';
import { pipeOfConfig } from '../commands/running-daemon.js';
import type { DoctorHost } from '../doctor/doctor-host.js';
import { addressWithoutSecrets } from './cleaner.js';

export interface SupportSource {
  /** The config file that someone named. */
  readonly named: string | undefined;
  /** Config that would be in force now; undefined when the file cannot be used. */
  readonly loaded: LoadedConfig | undefined;
  /** Why it cannot, without what was found in it. */
  readonly fault: string | undefined;
  readonly listen: string;
  readonly host: DoctorHost;
}

/** Looks where the daemon is. Never rejects for a config that cannot be used: that may be why a bundle is wanted. */
export async function supportSource(
  named: string | undefined,
  host: DoctorHost,
): Promise<SupportSource> {
  try {
    const loaded = await loadDaemonConfig(named);
    return { named, loaded, fault: undefined, listen: loaded.config.listen, host };
  } catch (error) {
    const fault = faultOf(error);
    const listen = await pipeOfConfig(named).catch(() => pipeOfConfig(undefined));
    return { named, loaded: undefined, fault, listen, host };
  }
}

/** Returns the text of a fault. Problem messages quote file content, which may be secret, so it gives their positions only. */
function faultOf(error: unknown): string {
  if (!(error instanceof ConfigError)) return messageOf(error);
  const places = error.problems.map((problem) => JSON.stringify(problemPlace(problem)));
  return [`the config cannot be used: ${error.code}`, ...places].join('\n');
}

/** A config as it may be shown to those who help: the keys of the file declare how. */
export function maskedConfig({ config, path, found, origins, warnings }: LoadedConfig): object {
  return {
    file: path,
    found,
    setInFile: origins.filter(({ origin }) => origin !== 'default').map(({ key }) => key),
    warnings: warnings.map(problemPlace),
    config: maskedSettings(config, addressWithoutSecrets),
  };
}

/** Where a problem is, without what was found there. */
function problemPlace({ code, severity, line, column }: ConfigProblem): object {
  return { severity, code, line, column };
}
